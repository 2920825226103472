"""How kernels become machine code (`decorators`), and where it is kept between runs (`cache`)."""
