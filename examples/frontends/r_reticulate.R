# forerun from R, through reticulate: arrays, operators, waits, a training loop.
#
#   RETICULATE_PYTHON=/path/to/python Rscript examples/frontends/r_reticulate.R
library(reticulate)

forerun <- import("forerun", convert = FALSE)  # arrays stay arrays; py_to_r() and the functions below convert
np <- import("forerun.np", convert = FALSE)
autograd <- import("forerun.autograd", convert = FALSE)

# reticulate has operators on Python's objects from version 1.29 on; before, these four lines give them.
if (packageVersion("reticulate") < "1.29") {
  operator <- import("operator", convert = FALSE)
  names_of <- c("+" = "add", "-" = "sub", "*" = "mul", "/" = "truediv", "^" = "pow")
  Ops.python.builtin.object <- function(e1, e2) operator[[names_of[[.Generic]]]](e1, e2)
}

number <- function(x) py_to_r(x$item())          # waits
values <- function(x) unlist(py_to_r(x$tolist()))  # waits

# Arrays and operators. Whole numbers of R are floats: write 3L where Python needs an integer.
x <- np$arange(6L)$reshape(2L, 3L)
y <- x * 2 + 1                     # queued; the call has not waited
stopifnot(identical(values(y), c(1, 3, 5, 7, 9, 11)))
stopifnot(number(np$equal(x, x)$sum()) == 6)  # R's == asks Python for one truth value, so np$equal compares
product <- np$matmul(np$ones(tuple(2L, 3L)), np$ones(tuple(3L, 2L)))
stopifnot(identical(values(product), c(3, 3, 3, 3)))

# Values of R go in and out as vectors and lists.
v <- np$array(c(1.5, 2.5, 4))
stopifnot(abs(number(v$mean()) - 8 / 3) < 1e-6)

# Waits: for one array, and for everything.
invisible(y$wait())
stopifnot(py_to_r(y$ready))
invisible(forerun$waitall())

# An error of the computation is raised where its result is read.
inverse <- np$linalg$inv(np$zeros(tuple(2L, 2L)))
message <- tryCatch(values(inverse), error = function(e) conditionMessage(e))
stopifnot(grepl("Singular matrix", message))

# A training loop: nothing in it waits.
invisible(np$random$seed(0L))
data <- np$random$normal(size = tuple(200L, 3L))
target <- np$matmul(data, np$array(c(1, -2, 0.5)))
w <- np$zeros(3L)
invisible(w$attach_grad())
for (step in 1:100) {
  with(autograd$record(), {
    loss <- (np$square(np$matmul(data, w) - target))$mean()
  })
  loss$backward()
  w$`__isub__`(w$grad * 0.1)       # in place: w -= 0.1 * w.grad
}
stopifnot(all(abs(values(w) - c(1, -2, 0.5)) < 0.01))
cat("R:", round(values(w), 3), "\n")
