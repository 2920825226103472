/** Requests to the server. An answer that is an error becomes a `Refused` with the server's own sentence. */

const BASE = "/api/v1";

class Refused extends Error {
  constructor({ code, message, field = null, position = null }) {
    super(message);
    Object.assign(this, { code, field, position });
  }
}

const UNREACHABLE = {
  code: "unreachable",
  message: "The server does not answer. Is `regretless serve` still running?",
};

async function send(method, path, body, signal) {
  let answer;
  try {
    answer = await fetch(BASE + path, {
      method,
      signal,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(UNREACHABLE);
  }
  const value = await answer.json().catch((error) => {
    if (error.name === "AbortError") throw error; // superseded while its body was on the way
    return null;
  });
  if (!answer.ok || value === null) throw new Refused(value?.error ?? UNREACHABLE);
  return value;
}

function query(fields) {
  const text = new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== undefined)).toString();
  return text ? `?${text}` : "";
}

export const get = (path, fields = {}, signal = undefined) => send("GET", path + query(fields), undefined, signal);
export const post = (path, body = {}, signal = undefined) => send("POST", path, body, signal);
export const put = (path, body) => send("PUT", path, body);
export const remove = (path) => send("DELETE", path);

/** Server-sent events: `handlers` maps the name of an event to what is done with its data. Returns the closer. */
export function listen(path, handlers) {
  const source = new EventSource(BASE + path);
  for (const [name, handle] of Object.entries(handlers)) {
    source.addEventListener(name, (event) => handle(JSON.parse(event.data)));
  }
  return () => source.close();
}

let meta;

/** Names of hands, classes and categories; asked for once. */
export function aboutServer() {
  meta ??= get("/meta").catch((error) => {
    meta = undefined;
    throw error;
  });
  return meta;
}

/** Ask again only when something else is asked: an answer that comes too late is dropped. */
export function latest(ask) {
  let controller;
  return async (...given) => {
    controller?.abort();
    controller = new AbortController();
    try {
      return await ask(...given, controller.signal);
    } catch (error) {
      if (error.name === "AbortError") return null;
      throw error;
    }
  };
}
