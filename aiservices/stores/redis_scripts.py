"""What `RedisStore` has the server do, one script for each operation.

Each is given four names: of an entry (a hash of `value` and `version`), of the namespace's index (a sorted
set of its keys, all of one score, hence sorted by their bytes), of its leases (a sorted set of keys by the
time of their end) and of its counter, from which versions come. Then the key and what else it needs.
"""

from __future__ import annotations

from typing import Final

PAGE: Final = 500

READ: Final = """
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
return redis.call('HMGET', KEYS[1], 'value', 'version')
"""

# key, text, expected version or '', lease in milliseconds or ''
WRITE: Final = """
local found = redis.call('HGET', KEYS[1], 'version') or '0'
if ARGV[3] ~= '' and ARGV[3] ~= found then return {0, found} end
local version = redis.call('INCR', KEYS[4])
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'value', ARGV[2], 'version', version)
redis.call('ZADD', KEYS[2], 0, ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
if ARGV[4] ~= '' then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', '(' .. now, 'LIMIT', 0, 10)) do
    redis.call('ZREM', KEYS[2], key)
    redis.call('ZREM', KEYS[3], key)
  end
  redis.call('ZADD', KEYS[3], now + ARGV[4], ARGV[1])
end
return {1, version}
"""

# key, expected version or ''
REMOVE: Final = """
local found = redis.call('HGET', KEYS[1], 'version') or '0'
if ARGV[2] ~= '' and ARGV[2] ~= found then return {0, found} end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
return {redis.call('DEL', KEYS[1]), found}
"""

# '', lower and upper end of a range; KEYS[1] is what the names of entries begin with
LIST: Final = f"""
local page = redis.call('ZRANGEBYLEX', KEYS[2], ARGV[2], ARGV[3], 'LIMIT', 0, {PAGE})
local living = {{}}
for _, key in ipairs(page) do
  if redis.call('EXISTS', KEYS[1] .. key) == 1 then table.insert(living, key) end
end
return {{living, page[{PAGE}]}}
"""
