import { describe, expect, test } from 'vitest';
import { asHeight } from '#kernel/primitives/height.ts';
import { type StatusView, statusPage } from '#web/pages/status.page.ts';

const view: StatusView = {
  site: { network: 'regtest', tipHeight: asHeight(99), banner: null },
  version: '1.2.3',
  upSeconds: 3 * 3600 + 60,
  index: { kind: 'busy', words: 'Blocks are being indexed.' },
  height: asHeight(99),
  sourceHeight: asHeight(399),
  lagBlocks: 300,
  lagSeconds: 90_000,
  blocksPerMinute: 2,
  problems: [],
  tables: [{ name: 'runes', state: 'being filled', height: null }],
  search: { kind: 'good', words: 'answered by Postgres' },
  unsealed: 1,
  mempool: { kind: 'good', words: 'followed', transactions: 1200, kept: 3 },
  payments: { kind: 'busy', words: 'blocks are being scanned', lagBlocks: 2 },
  orders: { kind: 'good', words: 'taken and processed', open: 4, stuck: 1 },
  webhooks: { waiting: 1, oldestSeconds: 61 },
  disk: { freeBytes: 5e11, totalBytes: 2e12 },
  queues: [
    { name: 'searches', length: 2, limit: 100 },
    { name: 'unsent bytes', length: 0, limit: 128_000_000 },
  ],
  day: [],
};

const shown = (changes: Partial<StatusView> = {}): string => statusPage({ ...view, ...changes }).text;

describe('the page of the status', () => {
  test('has the rate of a sync and the time left', () => {
    expect(shown()).toContain('25 %, 2.0 blocks per minute, about 2 h 30 min left');
    expect(shown()).toContain('300 blocks; the last one is 1 day 1 h old');
    expect(shown({ blocksPerMinute: 0 })).toContain('no block was indexed in the last minutes');
    expect(shown({ blocksPerMinute: null })).toContain('the rate is unknown until a minute after the start');
    expect(shown({ lagBlocks: 0, lagSeconds: null })).not.toContain('<progress');
  });

  test('says what is unknown, and why', () => {
    const body = shown({ sourceHeight: null, lagBlocks: null, height: null, disk: null });
    expect(body).toContain('unknown: the source was not reached yet');
    expect(body).toContain('unknown: the data folder cannot be read');
    expect(body).toContain('none yet');
  });

  test('shows services, tables and queues, the empty ones folded', () => {
    for (const part of [
      'up for 3 h 1 min',
      '1,200 transactions, 3 of them with inscriptions or runes',
      '2 blocks behind',
      '4 open, 1 of them with a stuck transaction',
      '1 message waits to be sent, the oldest for 1 min',
      'being filled',
      '<summary>1 empty queue</summary>',
      '128 MB',
    ])
      expect(shown()).toContain(part);
    expect(shown({ queues: [] })).toContain('Nothing waits.');
  });

  test('draws the known values of the day', () => {
    const minute = { time: 60, height: 5, lagBlocks: 0, mempool: null, requests: 3, searches: 1, p95Ms: 12 };
    const body = shown({ day: [minute, { ...minute, time: 120, height: 6 }] });
    expect(body.match(/<figure class="chart line">/gu)?.length).toBe(5);
    expect(body).not.toContain('Transactions in the mempool');
    expect(shown()).toContain('begin two minutes after the start');
  });

  test('shows problems by their meaning', () => {
    const body = shown({ problems: [{ code: 'node_unreachable', meaning: 'No bitcoind <answers>.' }] });
    expect(body).toContain('No bitcoind &lt;answers&gt;. <span class="mono faint">node_unreachable</span>');
  });
});
