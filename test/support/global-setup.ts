import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { migrate } from '#kernel/pg/migrate.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { openElasticsearchDoor } from './elasticsearch/elasticsearch-door.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of a database that may create databases, and the name of the migrated template in the same server. */
    testServer: { url: string; template: string };
  }
}

/**
 * One real Postgres for all tests of a run: the server that TEST_DATABASE_URL names (its account must be allowed to create
 * databases), or an embedded one in a temporary folder. A migrated template database is what
 * `createTestDatabase()` clones. And the door to an Elasticsearch, for those who ask for one.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['TEST_DATABASE_URL'];
  const server = given === undefined || given === '' ? await startTemporaryServer() : givenServer(given);
  const template = `satscribe_template_${process.pid}_${Date.now().toString(36)}`;
  await onServer(server.url, `CREATE DATABASE ${template}`);
  const templateUrl = new URL(server.url);
  templateUrl.pathname = `/${template}`;
  await migrate(templateUrl.href);
  project.provide('testServer', { url: server.url, template });
  const closeDoor = await openElasticsearchDoor(project);
  return async () => {
    await closeDoor();
    await onServer(server.url, `DROP DATABASE IF EXISTS ${template}`);
    await server.stop();
  };
}

function givenServer(url: string): { url: string; stop(): Promise<void> } {
  return { url, stop: () => Promise.resolve() };
}

async function startTemporaryServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'satscribe-test-'));
  // as root the server runs as an ordinary account, which must be able to go there
  await chmod(dataDir, 0o755);
  const server = await startEmbeddedPostgres({ dataDir, durable: false });
  const stop = async (): Promise<void> => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { url: server.url, stop };
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = await connectClient(url);
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
