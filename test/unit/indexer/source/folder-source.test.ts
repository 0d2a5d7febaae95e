import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { describeBlockSource } from '#test/support/node/block-source-conformance.ts';

const samples = join(import.meta.dirname, '../../../../samples');
const golden = new GoldenChain('reorg-1');
const [best, shortBranch, longBranch] = golden.tips();
let root: string;
let whole: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'satscribe-folder-'));
  whole = join(root, 'whole');
  golden.writeFolder(whole);
});
afterAll(() => rm(root, { recursive: true, force: true }));

let made = 0;
/** Makes a copy of the golden folder, with another chain.json and with changed files. */
function folder(chain: unknown, change: (dir: string) => void = () => undefined): string {
  const dir = join(root, `folder-${made++}`);
  golden.writeFolder(dir);
  writeFileSync(join(dir, 'chain.json'), typeof chain === 'string' ? chain : JSON.stringify(chain));
  change(dir);
  return dir;
}
const { headers } = golden.chain;
const fileName = ({ height, hash }: { height: number; hash: string }): string =>
  `${String(height).padStart(7, '0')}-${hash}.bin`;
const heightsOf = async (dir: string, tip?: string): Promise<number[]> => {
  const source = await openFolderSource(dir, tip === undefined ? {} : { tip });
  return (await source.refs()).map(({ height }) => height);
};
const hashesOf = async (dir: string, tip?: string): Promise<string[]> => {
  const source = await openFolderSource(dir, tip === undefined ? {} : { tip });
  return (await source.refs()).map(({ hash }) => displayHash(hash));
};
/** Removes all blocks except those of the best chain. */
const onlyBest = (dir: string): void => {
  const kept = new Set(headers.map(fileName));
  for (const name of readdirSync(join(dir, 'blocks'))) if (!kept.has(name)) rmSync(join(dir, 'blocks', name));
};

describeBlockSource('a folder without gaps', {
  open: () => openFolderSource(whole),
  expected: {
    refs: headers,
    islands: [[0, 145]],
    withSpent: headers.map(({ height }) => height),
  },
});

const sampleHeights = [
  767430, 778163, 780004, 781735, 818677, 831331, 831332, 832918, 839999, 840672, 866342, 951658,
];
const sampleNames = readdirSync(join(samples, 'mainnet/blocks')).sort();
describeBlockSource('a folder with gaps', {
  open: () => openFolderSource(join(samples, 'mainnet')),
  expected: {
    refs: sampleNames.map((name) => ({ height: Number(name.slice(0, 7)), hash: name.slice(8, 72) })),
    islands: sampleHeights
      .filter((height) => height !== 831332)
      .map((height) => [height, height === 831331 ? 831332 : height]),
    withSpent: [781735, 832918, 866342],
  },
});

describe('the chain of a folder', () => {
  test('is that of the headers, even with other branches among the files', async () => {
    expect(await hashesOf(whole)).toEqual(best!.headers.map(({ hash }) => hash));
  });

  test('is another one for the tip of a stale branch, from where it leaves the best one', async () => {
    expect(await hashesOf(whole, shortBranch!.tip)).toEqual(shortBranch!.headers.map(({ hash }) => hash));
    expect(await hashesOf(whole, longBranch!.tip.toUpperCase())).toEqual(
      longBranch!.headers.map(({ hash }) => hash),
    );
  });

  test('ends at a given tip of the best chain', async () => {
    expect(await heightsOf(whole, headers[30]!.hash)).toEqual(
      headers.slice(0, 31).map(({ height }) => height),
    );
  });

  test('is found from a tip alone, by the parents in the headers of blocks', async () => {
    const dir = folder({ network: 'regtest' });
    expect(await hashesOf(dir, longBranch!.tip)).toEqual(longBranch!.headers.map(({ hash }) => hash));
  });

  test('is that of the files if no two have the same height', async () => {
    const dir = folder({ network: 'regtest' }, onlyBest);
    expect(await hashesOf(dir)).toEqual(headers.map(({ hash }) => hash));
  });

  test('has islands if it declares gaps', async () => {
    const chain = {
      network: 'regtest',
      gaps: true,
      headers: headers.filter(({ height }) => height < 10 || height > 20),
      islands: [{ height: 21, start: { sequence: 7, lostSats: 0 }, note: 'unknown keys are ignored' }],
      unknown: [1],
    };
    const source = await openFolderSource(folder(chain));
    expect(await source.islands()).toEqual([
      { firstHeight: 0, lastHeight: 9, start: {} },
      { firstHeight: 21, lastHeight: 145, start: { sequence: 7, lostSats: 0 } },
    ]);
  });

  test('with gaps keeps the islands below the one of the tip', async () => {
    const kept = headers.filter(({ height }) => height < 10 || height > 120);
    const dir = folder({ network: 'regtest', gaps: true, headers: kept }, (path) => {
      for (const header of headers)
        if (!kept.includes(header)) rmSync(join(path, 'blocks', fileName(header)));
    });
    const chain = await hashesOf(dir, longBranch!.tip);
    expect(chain.slice(0, 10)).toEqual(headers.slice(0, 10).map(({ hash }) => hash));
    expect(chain.at(-1)).toBe(longBranch!.tip);
  });

  test('takes file names without leading zeros or in upper case', async () => {
    const dir = folder({ network: 'regtest' }, (path) => {
      onlyBest(path);
      for (const { height, hash } of headers.slice(0, 3)) {
        for (const part of ['blocks', 'spent']) {
          renameSync(
            join(path, part, fileName({ height, hash })),
            join(path, part, `${height}-${hash.toUpperCase()}.bin`),
          );
        }
      }
      writeFileSync(join(path, 'blocks', 'README'), 'not a block');
    });
    const source = await openFolderSource(dir);
    const refs = await source.refs();
    expect(refs.map(({ hash }) => displayHash(hash))).toEqual(headers.map(({ hash }) => hash));
    expect((await source.read(refs[1]!)).spentOutputs).not.toBeNull();
  });
});

describe('a folder that is refused', () => {
  const refused = async (chain: unknown, change?: (dir: string) => void): Promise<string> => {
    const failure = await openFolderSource(folder(chain, change)).then(
      () => null,
      (error: unknown) => error as { code: string; message: string },
    );
    expect(failure?.code).toBe('folder_invalid');
    return failure?.message ?? '';
  };

  test.each([
    ['no JSON', '{', /is not JSON/u],
    ['no network', {}, /must have required properties network/u],
    ['an unknown network', { network: 'bitcoin' }, /network must be one of mainnet/u],
    ['invalid headers', { network: 'regtest', headers: [{ height: 0, hash: 'ab' }] }, /headers\.0\.hash/u],
    [
      'a height below 0',
      { network: 'regtest', headers: [{ height: -1, hash: '0'.repeat(64) }] },
      /headers\.0\.height/u,
    ],
    [
      'invalid islands',
      { network: 'regtest', islands: [{ height: 0, start: { sequence: -1 } }] },
      /islands\.0\.start\.sequence/u,
    ],
  ])('has %s in chain.json', async (_, chain, message) => {
    expect(await refused(chain)).toMatch(message);
  });

  test('has no chain.json', async () => {
    await refused({}, (dir) => rmSync(join(dir, 'chain.json')));
  });

  test('has no blocks', async () => {
    await refused({ network: 'regtest' }, (dir) => rmSync(join(dir, 'blocks'), { recursive: true }));
    await refused({ network: 'regtest' }, (dir) => {
      rmSync(join(dir, 'blocks'), { recursive: true });
      mkdirSync(join(dir, 'blocks'));
    });
  });

  test('has two blocks of one height, and no headers to decide', async () => {
    expect(await refused({ network: 'regtest' })).toMatch(/two blocks of height/u);
  });

  test('leaves out a block without declaring it', async () => {
    expect(
      await refused({ network: 'regtest', headers: headers.filter(({ height }) => height !== 9) }),
    ).toMatch(/height 9 is missing.*"gaps": true/u);
    await refused({ network: 'regtest', headers: headers.slice(1) });
  });

  test('has heights that do not ascend', async () => {
    const disorder = [headers[1], headers[0]];
    expect(await refused({ network: 'regtest', gaps: true, headers: disorder })).toMatch(/not in order/u);
  });

  test('proves totals for a block in the middle of an island', async () => {
    const islands = [{ height: 5, start: { sequence: 1 } }];
    expect(await refused({ network: 'regtest', headers, islands })).toMatch(/height 5/u);
  });

  test('lacks the requested tip, or the tip is not a hash', async () => {
    await expect(openFolderSource(whole, { tip: '0'.repeat(64) })).rejects.toMatchObject({
      code: 'folder_invalid',
    });
    await expect(openFolderSource(whole, { tip: 'tip' })).rejects.toMatchObject({ code: 'config_invalid' });
  });
});

describe('a file that is refused', () => {
  const read = async (change: (path: string) => void): Promise<unknown> => {
    const dir = folder(golden.chain, (path) => change(join(path, 'blocks', fileName(headers[7]!))));
    const source = await openFolderSource(dir);
    return source.read((await source.refs())[7]!);
  };

  test('is larger than any block, and is not read', async () => {
    await expect(read((path) => truncateSync(path, 4_000_001))).rejects.toMatchObject({
      code: 'block_oversized',
      details: { height: 7, hash: headers[7]!.hash },
    });
  });

  test('is missing', async () => {
    await expect(read((path) => rmSync(path))).rejects.toMatchObject({ code: 'block_unavailable' });
  });

  test('is not a file', async () => {
    await expect(
      read((path) => {
        rmSync(path);
        mkdirSync(path);
      }),
    ).rejects.toMatchObject({ code: 'block_unavailable' });
  });

  test('has a truncated header, on the way down from a tip', async () => {
    const dir = folder({ network: 'regtest' }, (path) =>
      truncateSync(join(path, 'blocks', fileName(longBranch!.headers.at(-1)!)), 79),
    );
    await expect(openFolderSource(dir, { tip: longBranch!.tip })).rejects.toMatchObject({
      code: 'block_truncated',
    });
  });

  test('is another block’s: the source gives it, and the check refuses it', async () => {
    const dir = folder(golden.chain, (path) =>
      copyFileSync(join(path, 'blocks', fileName(headers[8]!)), join(path, 'blocks', fileName(headers[7]!))),
    );
    const source = await openFolderSource(dir);
    expect(source.trusted).toBe(false);
    expect((await source.read((await source.refs())[7]!)).bytes.length).toBeGreaterThan(80);
  });
});
