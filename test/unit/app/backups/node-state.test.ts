import { expect, test } from 'vitest';
import { type NodeState, whyNodeLacks } from '#src/app/backups/held/node-state.ts';

const whole: NodeState = {
  isInitialBlockDownload: false,
  blocks: 10,
  headers: 10,
  isMempoolLoaded: true,
  peers: 1,
};

test.each([
  ['nothing', {}, null],
  ['blocks of the first download', { isInitialBlockDownload: true }, 'initial block download'],
  ['blocks whose headers it has', { headers: 11 }, 'has block 10, and knows headers up to 11'],
  ['its mempool', { isMempoolLoaded: false }, 'loading its mempool'],
  ['peers', { peers: 0 }, 'no connections'],
] as const)('a node may lack %s', (_what, more, why) => {
  const said = whyNodeLacks({ ...whole, ...more }, 'mainnet');
  if (why === null) expect(said).toBeNull();
  else expect(said).toContain(why);
});

test('a node of regtest needs no peers', () => {
  expect(whyNodeLacks({ ...whole, peers: 0 }, 'regtest')).toBeNull();
});
