/** Owns the embedded Postgres of the folder in the first argument, prints its URL and waits to be killed. */
import { startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';

const { url } = await startEmbeddedPostgres({ dataDir: process.argv[2]!, durable: true });
process.stdout.write(`${url}\n`);
setInterval(() => undefined, 1000);
