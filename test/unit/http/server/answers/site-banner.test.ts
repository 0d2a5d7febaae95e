import { describe, expect, test } from 'vitest';
import type { Standing } from '#http/operations/chain-lag.ts';
import { bannerOf } from '#http/server/answers/site-banner.ts';
import { asHeight } from '#kernel/primitives/height.ts';

const now = new Date('2026-11-28T12:00:00Z');
const tip = { height: asHeight(100), hash: new Uint8Array(32) } as unknown as Standing['tip'];

type Status = NonNullable<Standing['status']>;

const standing = (status: Partial<Status> | null, more: Partial<Standing> = {}): Standing =>
  ({
    status: status && {
      state: 'following',
      source: 'node http://127.0.0.1:8332',
      sourceTip: null,
      problem: null,
      updatedAt: now,
      ...status,
    },
    ageSeconds: 1,
    hasWriter: true,
    tip,
    lag: { blocks: 0, seconds: 0 },
    behind: [],
    tipTime: null,
    now,
    ...more,
  }) as Standing;

describe('the banner of pages', () => {
  test('is absent at the tip and one block below', () => {
    expect(bannerOf(standing({}))).toBeNull();
    expect(bannerOf(standing({}, { lag: { blocks: 1, seconds: 60 } }))).toBeNull();
  });

  test('says how many blocks are left', () => {
    expect(bannerOf(standing({}, { lag: { blocks: 5, seconds: 60 } }))).toEqual({
      kind: 'behind',
      words: '5 blocks left to index; what you see ends at block 100.',
    });
    expect(bannerOf(standing({ state: 'syncing' }, { lag: { blocks: 5000, seconds: 60 } }))?.kind).toBe(
      'syncing',
    );
  });

  test('says what is wrong with the node', () => {
    const problem = { code: 'node_unreachable', message: 'The node does not answer.', since: now } as const;
    expect(bannerOf(standing({ state: 'waiting', problem }))).toEqual({
      kind: 'no-node',
      words:
        'The Bitcoin node has not answered since 12:00 UTC, so new blocks wait; what you see ends at block 100.',
    });
    const other = { code: 'node_pruned', message: 'The node has pruned it.', since: now } as const;
    expect(bannerOf(standing({ state: 'waiting', problem: other }))?.words).toBe(
      'The node has pruned it. Meanwhile what you see ends at block 100.',
    );
  });

  test('says how fast a first sync is, and how long it takes', () => {
    const words = (blocks: number, pace: number | null): string | undefined =>
      bannerOf(standing({ state: 'syncing' }, { lag: { blocks, seconds: 60 } }), pace)?.words;
    expect(words(4900, null)).toBe('Indexing block 101 of 5,000; what you see ends at block 100.');
    expect(words(4900, 7)).toContain(', 7.0 blocks a second, about 12 minutes left;');
    expect(words(4900, 1250)).toContain(', 1,250 blocks a second, about 4 seconds left;');
    expect(words(490_000, 25)).toContain('about 5 hours left');
    expect(words(4900, 0)).not.toContain('left');
  });

  test('is absent at the end of a folder, and names the height at which a node’s indexer ended', () => {
    expect(bannerOf(standing({ state: 'ended', source: 'folder demo' }, { hasWriter: false }))).toBeNull();
    expect(bannerOf(standing({ state: 'ended' }, { hasWriter: false }))?.kind).toBe('behind');
  });

  test('says that the indexer has ended, or never existed', () => {
    expect(bannerOf(standing({}, { hasWriter: false }))?.kind).toBe('behind');
    expect(bannerOf(standing(null, { tip: null }))?.kind).toBe('starting');
  });
});
