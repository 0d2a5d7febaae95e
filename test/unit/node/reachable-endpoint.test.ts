import { expect, test } from 'vitest';
import { reachableEndpoint } from '#node/discover-facts.ts';

test.each([
  ['tcp://127.0.0.1:28332', 'tcp://127.0.0.1:28332'],
  ['tcp://10.0.0.7:28332', 'tcp://10.0.0.7:28332'],
  ['tcp://0.0.0.0:28332', 'tcp://bitcoind:28332'],
  ['tcp://*:28332', 'tcp://bitcoind:28332'],
  ['tcp://[::]:28332', 'tcp://bitcoind:28332'],
  ['ipc:///run/bitcoind.sock', 'ipc:///run/bitcoind.sock'],
  ['tcp://127.0.0.1', null],
  ['udp://127.0.0.1:1', null],
  ['', null],
])('reaches %s of a node at http://bitcoind:8332 at %s', (address, endpoint) => {
  expect(reachableEndpoint(address, 'http://bitcoind:8332')).toBe(endpoint);
});

test('keeps the brackets of an address of version 6', () => {
  expect(reachableEndpoint('tcp://*:28332', 'http://[::1]:8332')).toBe('tcp://[::1]:28332');
});
