-- wrk: each request is another job (Fig. 1 of Ulanov et al. 2016, up to 64 workers), so that none is
-- in the cache.
local count = 0
local thread = 0
function setup(t) t:set("number", thread); thread = thread + 1 end
request = function()
  count = count + 1
  local body = string.format('{"compute": "%d.%d/n", "communicate": "0.5*log2(n)", "cluster": {"max_nodes": 64}}', count, number)
  return wrk.format("POST", "/v1/plan", {["Content-Type"] = "application/json"}, body)
end
