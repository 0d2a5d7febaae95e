import { expect, test } from 'vitest';
import { asHeight } from '#kernel/primitives/height.ts';
import { type PendingInscriptionView, pendingInscriptionPage } from '#web/pages/pending-inscription.page.ts';

const txid = 'ab'.repeat(32);
const parent = `${'cd'.repeat(32)}i0`;
const view: PendingInscriptionView = {
  site: { network: 'mainnet', tipHeight: asHeight(900_000), banner: null },
  id: `${txid}i0`,
  txid,
  title: '<b>Moth</b>',
  traits: [],
  contentType: 'text/plain',
  contentEncoding: null,
  sizeBytes: 9,
  contentHash: 'ef'.repeat(32),
  delegate: null,
  metaprotocol: '<i>',
  metadataJson: null,
  claimedParents: [parent],
  firstSeen: 1_713_571_767,
  fee: 1_000,
  vsize: 200,
  replaces: ['12'.repeat(32)],
  place: 'output',
  outpoint: `${txid}:0`,
  address: 'bc1qowner',
};
const shown = (changes: Partial<PendingInscriptionView> = {}): string =>
  pendingInscriptionPage({ ...view, ...changes }).text;

test('a pending inscription has its transaction, fee, place and claims, and its texts stay texts', () => {
  for (const part of [
    'waits in the mempool',
    `href="/tx/${txid}"`,
    '1,000 sats</span>, <span class="nowrap">5 sat/vB',
    `href="/output/${txid}:0"`,
    'href="/address/bc1qowner"',
    `href="/inscription/${parent}"`,
    `href="/tx/${'12'.repeat(32)}"`,
    `href="/?hash=${'ef'.repeat(32)}"`,
    '&lt;b&gt;Moth',
    '&lt;i&gt;',
  ])
    expect(shown()).toContain(part);
  expect(shown()).not.toContain('<b>Moth');
});

test('an inscription without a body, a fee or a place says so', () => {
  const bare = shown({
    title: null,
    contentType: null,
    sizeBytes: null,
    contentHash: null,
    fee: null,
    outpoint: null,
    place: 'unknown',
    delegate: parent,
  });
  for (const words of ['no body', 'unknown: an output that it spends is unknown', '<dt>Delegate</dt>'])
    expect(bare).toContain(words);
  expect(bare).not.toContain('/?hash=');
  expect(shown({ outpoint: null, place: 'fee' })).toContain('the miner of its block would get it');
  expect(shown({ outpoint: null, place: 'unbound' })).toContain('it would be unbound');
});
