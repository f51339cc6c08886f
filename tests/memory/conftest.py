"""The servers that the tests of the stores start."""

from tests.stores.conftest import folder, postgresql_url, redis_url

__all__ = ["folder", "postgresql_url", "redis_url"]
