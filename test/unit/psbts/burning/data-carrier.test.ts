import { expect, test } from 'vitest';
import { dataCarrierOf, whyNotCarried } from '#psbts/burning/data-carrier.ts';

const core = (version: number) => ({ version, subversion: `/Satoshi:${version / 10_000}.0.0/` });
const output = (...bytes: readonly number[]) => ({ script: Uint8Array.of(...bytes) });
const data = (length: number) => ({ script: Uint8Array.of(0x6a, ...new Uint8Array(length - 1)) });

test('nodes report their limit of relayed bytes from Bitcoin Core 30 on, and then relay several outputs', () => {
  expect(dataCarrierOf({ maxdatacarriersize: 100_000 }, core(300_000))).toEqual({
    bytesMax: 100_000,
    relaysSeveral: true,
  });
  expect(dataCarrierOf({}, core(290_000))).toEqual({ bytesMax: 83, relaysSeveral: false });
  expect(dataCarrierOf({ maxdatacarriersize: 0 }, core(300_000)).bytesMax).toBe(0);
});

test('Knots relays one output, whatever its version', () => {
  const knots = { version: 300_100, subversion: '/Satoshi:30.1.0/Knots:20260508/' };
  expect(dataCarrierOf({ maxdatacarriersize: 83 }, knots).relaysSeveral).toBe(false);
});

test('an answer that is not an object is an error of the node', () => {
  expect(() => dataCarrierOf(null, core(300_000))).toThrow(
    expect.objectContaining({ code: 'node_answer_invalid' }),
  );
});

test('scripts are counted together, and other outputs do not matter', () => {
  const one = { bytesMax: 83, relaysSeveral: false };
  expect(whyNotCarried([output(0x51), data(83)], one)).toBeNull();
  expect(whyNotCarried([data(84)], one)).toBe(
    'The node relays OP_RETURN outputs of at most 83 bytes, but this burn needs 84 bytes.',
  );
  expect(whyNotCarried([data(10), data(5)], one)).toBe(
    'The node relays only one OP_RETURN output, but this burn needs two.',
  );
  const several = { bytesMax: 83, relaysSeveral: true };
  expect(whyNotCarried([data(50), data(33)], several)).toBeNull();
  expect(whyNotCarried([data(50), data(34)], several)).toMatch(/needs 84/u);
});
