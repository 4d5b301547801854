-- wrk: each request adds a run that is not there yet.
local count = 0
local thread = 0
function setup(t) t:set("number", thread); thread = thread + 1 end
local started = os.time()
request = function()
  count = count + 1
  local body = string.format('{"n": %d, "batch": %d, "seconds": %d.%d, "seed": %d}', count % 64 + 1, count, count, number, started)
  return wrk.format("POST", "/v1/runs", {["Content-Type"] = "application/json"}, body)
end
