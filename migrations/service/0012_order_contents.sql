-- Which orders have a content: it is deleted once all of them are over (docs/orders.md, "Contents").

CREATE INDEX order_files_sha256 ON service.order_files (sha256) WHERE sha256 IS NOT NULL;
