# forerun from Julia, through PythonCall: arrays, operators, waits, a training loop.
#
#   JULIA_CONDAPKG_BACKEND=Null JULIA_PYTHONCALL_EXE=/path/to/python julia examples/frontends/julia_pythoncall.jl
using PythonCall

const forerun = pyimport("forerun")
const np = pyimport("forerun.np")
const autograd = pyimport("forerun.autograd")

number(x) = pyconvert(Float64, x.item())                  # waits
values_of(x) = pyconvert(Vector{Float64}, x.ravel().tolist())  # waits, row by row

# Arrays and operators.
x = np.arange(6).reshape(2, 3)
y = x * 2 + 1                                             # queued; the call has not waited
@assert values_of(y) == [1, 3, 5, 7, 9, 11]
@assert number(np.equal(x, x).sum()) == 6
product = pymatmul(np.ones((2, 3)), np.ones((3, 2)))
@assert values_of(product) == [3, 3, 3, 3]

# Vectors of Julia go in as lists.
v = np.array(pylist([1.5, 2.5, 4.0]))
@assert isapprox(number(v.mean()), 8 / 3; atol = 1e-6)

# Waits: for one array, and for everything.
y.wait()
@assert pyconvert(Bool, y.ready)
forerun.waitall()

# An error of the computation is raised where its result is read.
inverse = np.linalg.inv(np.zeros((2, 2)))
message = try
    values_of(inverse)
    ""
catch error
    sprint(showerror, error)
end
@assert occursin("Singular matrix", message)

# A training loop: nothing in it waits.
function train(steps)
    np.random.seed(0)
    data = np.random.normal(size = (200, 3))
    target = np.matmul(data, np.array(pylist([1.0, -2.0, 0.5])))
    w = np.zeros(3)
    w.attach_grad()
    for step in 1:steps
        loss = pywith(autograd.record()) do _
            np.square(np.matmul(data, w) - target).mean()
        end
        loss.backward()
        pyisub(w, w.grad * 0.1)                           # in place: w -= 0.1 * w.grad
    end
    return w
end

w = train(100)
@assert all(abs.(values_of(w) .- [1, -2, 0.5]) .< 0.01)
println("Julia: ", round.(values_of(w); digits = 3))
