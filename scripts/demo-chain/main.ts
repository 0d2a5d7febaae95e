/**
 * Makes samples/demo, the chain of `npm run demo`, on a regtest node: `node scripts/demo-chain/main.ts`. Each run makes
 * the same ids, but other signatures, and thus other block hashes.
 */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asBlockHash } from '#kernel/primitives/hash.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { startBitcoind } from '#test/support/node/bitcoind.ts';
import { DemoWorld } from './demo-world.ts';
import { type Item, tellStory } from './story.ts';

const target = 'samples/demo';
const mainnetBlock = '0767430-000000000000000000029730547464f056f8b6e2e0a02eaf69c24389983a04f5.bin';
const pictureHash = '846d05123db3601c8591bd144f474f1fbe7f873f3af04db4cab326db73f8d087';
/** Maximum number of bytes in one push of an envelope's content. */
const pushMax = 520;

const bitcoind = await startBitcoind();
try {
  const world = await DemoWorld.start(bitcoind.rpc);
  const { orbits, moths } = await tellStory(world, firstPicture());
  await writeBlocks(world.height);
  writeCollection('orbits', 'Orbits', 'Sixteen planets with rings and moons, drawn for the demo.', orbits);
  writeCollection('moths', 'Moths', 'Twelve moths of 24 by 24 pixels, drawn for the demo.', moths);
  process.stdout.write(`${target}: ${world.height + 1} blocks\n`);
} finally {
  await bitcoind.remove();
}

/** Returns the picture of mainnet's first inscription, from two pushes of its envelope. The README has its hash. */
function firstPicture(): Buffer {
  const block = readFileSync(join('samples/mainnet/blocks', mainnetBlock));
  const start = block.indexOf(Buffer.from('\x89PNG', 'latin1'));
  const second = start + pushMax;
  const length = block.readUInt16LE(second + 1);
  const picture = Buffer.concat([
    block.subarray(start, second),
    block.subarray(second + 3, second + 3 + length),
  ]);
  assert.equal(hash('sha256', picture), pictureHash);
  return picture;
}

async function writeBlocks(tip: number): Promise<void> {
  for (const folder of ['blocks', 'spent']) {
    rmSync(join(target, folder), { recursive: true, force: true });
    mkdirSync(join(target, folder), { recursive: true });
  }
  const node = await connectNode(bitcoind.settings, { listens: false });
  const headers: { height: number; hash: string }[] = [];
  for (let height = 0; height <= tip; height++) {
    const shown = await node.rpc.call<string>('getblockhash', [height]);
    const internal = asBlockHash(Buffer.from(shown, 'hex').reverse());
    const name = `${String(height).padStart(7, '0')}-${shown}.bin`;
    writeFileSync(join(target, 'blocks', name), await node.block(internal));
    const spent = await fetch(`${bitcoind.rpcUrl}/rest/spenttxouts/${shown}.bin`);
    if (height > 0) writeFileSync(join(target, 'spent', name), Buffer.from(await spent.arrayBuffer()));
    headers.push({ height, hash: shown });
  }
  await node.close();
  writeFileSync(join(target, 'chain.json'), `${JSON.stringify({ network: 'regtest', headers }, null, 1)}\n`);
}

function writeCollection(slug: string, name: string, description: string, items: readonly Item[]): void {
  const folder = join(target, 'collections', slug);
  if (!existsSync(folder)) mkdirSync(folder, { recursive: true });
  const [icon] = items;
  const meta = { name, slug, description, inscription_icon: icon?.id };
  writeFileSync(join(folder, 'meta.json'), `${JSON.stringify(meta, null, 2)}\n`);
  const list = items.map(({ id, name: title, traits }) => ({
    id,
    meta: { name: title, attributes: traits },
  }));
  writeFileSync(join(folder, 'inscriptions.json'), `${JSON.stringify(list, null, 2)}\n`);
}
