# forerun from Julia, through PyCall: arrays, operators, waits, a training loop.
#
#   PYCALL_JL_RUNTIME_PYTHON=/path/to/python julia examples/frontends/julia_pycall.jl
using PyCall

const forerun = pyimport("forerun")
const np = pyimport("forerun.np")
const autograd = pyimport("forerun.autograd")

# Arrays and operators.
x = np.arange(6).reshape(2, 3)
y = x * 2 + 1                                             # queued; the call has not waited
@assert y.asnumpy() == [1 3 5; 7 9 11]                    # waits, and gives a matrix of Julia
@assert np.equal(x, x).sum().item() == 6
product = np.matmul(np.ones((2, 3)), np.ones((3, 2)))
@assert product.tolist() == [3 3; 3 3]
@assert get(y, (1, 0)).item() == get(get(y, 1), 0).item() == 7  # Python's indices

# Vectors and matrices of Julia go in as they are.
v = np.array([1.5, 2.5, 4.0])
@assert isapprox(v.mean().item(), 8 / 3)
@assert (np.array([1 2; 3 4]) + 1).tolist() == [2 3; 4 5]

# Waits: for one array, and for everything.
y.wait()
@assert y.ready
forerun.waitall()

# An error of the computation is raised where its result is read.
inverse = np.linalg.inv(np.zeros((2, 2)))
message = try
    inverse.asnumpy()
    ""
catch error
    sprint(showerror, error)
end
@assert occursin("Singular matrix", message)

# A training loop: nothing in it waits.
function train(steps)
    np.random.seed(0)
    data = np.random.normal(size = (200, 3))
    target = np.matmul(data, np.array([1.0, -2.0, 0.5], dtype = "float32"))
    w = np.zeros(3)
    w.attach_grad()
    for step in 1:steps
        loss = nothing
        @pywith autograd.record() begin
            loss = np.square(np.matmul(data, w) - target).mean()
        end
        loss.backward()
        w.__isub__(w.grad * 0.1)                          # in place: w -= 0.1 * w.grad
    end
    return w
end

w = train(100)
@assert all(abs.(w.asnumpy() .- [1, -2, 0.5]) .< 0.01)
println("Julia: ", round.(Float64.(w.asnumpy()); digits = 3))
