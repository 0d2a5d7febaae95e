import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { networkOfNode, usualNode } from '#src/app/setup/find-node.ts';

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'satscribe-home-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

test('a cookie at a usual place names the network and the address of the node', async () => {
  const folder = join(home, 'Library/Application Support/Bitcoin/testnet4');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, '.cookie'), '__cookie__:00');
  expect(await usualNode('testnet4', home)).toEqual({
    network: 'testnet4',
    rpcUrl: 'http://127.0.0.1:48332',
    cookieFile: join(folder, '.cookie'),
    hasCookie: true,
  });
  // another node of this machine may be found first
  expect(await networkOfNode(home)).not.toBeNull();
});

test('without a cookie the usual place of a person is proposed', async () => {
  const found = await usualNode('regtest', home);
  if (!found.hasCookie)
    expect(found).toMatchObject({
      rpcUrl: 'http://127.0.0.1:18443',
      cookieFile: join(home, '.bitcoin/regtest/.cookie'),
    });
  expect(found.rpcUrl).toBe('http://127.0.0.1:18443');
});
