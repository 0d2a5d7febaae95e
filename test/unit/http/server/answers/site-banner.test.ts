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
      words: 'The node does not answer. Meanwhile what you see ends at block 100.',
    });
  });

  test('says that the indexer is gone, or was never there', () => {
    expect(bannerOf(standing({}, { hasWriter: false }))?.kind).toBe('behind');
    expect(bannerOf(standing(null, { tip: null }))?.kind).toBe('starting');
  });
});
