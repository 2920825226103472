/** The run of a study: a bar of its flops (solved, running, failed), what went wrong, and Stop or Resume. */

import { post } from "../shared/api.js";
import { fill, make } from "../shared/dom.js";
import { count, duration } from "../shared/format.js";

const ACTIVE = ["queued", "starting", "running", "stopping"];
const WORDS = {
  queued: "waits for another study",
  starting: "is starting",
  stopping: "is stopping",
  stopped: "stopped",
  failed: "some flops failed",
};

export const isRunning = ({ run }) => ACTIVE.includes(run?.state);

/** `changed()` is called when a run was stopped or resumed. */
export function runBar(changed) {
  const root = make("section.run-bar.panel", { "aria-label": "Progress", hidden: true });
  let drawn = "";

  return {
    root,
    show(study) {
      const { spots, done, run } = study;
      const key = JSON.stringify([study.study, spots, done, run]);
      if (key === drawn) return;
      drawn = key;
      root.hidden = done >= spots && spots > 0 && !run?.errors.length;
      if (root.hidden) return;
      const [failed, running] = [run?.failed ?? 0, isRunning(study) ? run.running : 0];
      const said = [
        WORDS[run?.state],
        spots ? `${count(done)} of ${count(spots)} spots solved so far` : null,
        running ? `${count(running)} running` : null,
        failed ? `${count(failed)} failed` : null,
        isRunning(study) && run.seconds_left ? `about ${duration(run.seconds_left)} left` : null,
      ];
      const part = (kind, share) => make(`span.${kind}`, { style: { width: `${spots ? (100 * share) / spots : 0}%` } });
      fill(
        root,
        make(".bar", { "aria-hidden": "true" }, part("done", done), part("running", running), part("failed", failed)),
        make("p.hint", { role: "status" }, said.filter(Boolean).join(" · ")),
        run?.message && make("p.problem", {}, run.message),
        button(study),
      );
    },
  };

  function button({ study, run }) {
    const active = ACTIVE.includes(run?.state);
    if (run?.state === "stopping") return null;
    const act = async () => {
      try {
        await post(active ? "/study/stop" : "/study/resume", { study });
        changed();
      } catch (error) {
        root.append(make("p.problem", { role: "alert" }, error.message));
      }
    };
    return make("button.button", { onclick: act }, active ? "Stop" : "Resume");
  }
}
