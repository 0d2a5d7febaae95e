import { createHash } from 'node:crypto';
import { bech32m } from '@scure/base';
import { Address, NETWORK, OutScript, TEST_NETWORK } from '@scure/btc-signer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { parseAddress } from '#kernel/bitcoin/parse-address.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

/** The other library has three networks. The addresses of signet and testnet4 are those of testnet3. */
const theirs = {
  mainnet: NETWORK,
  testnet3: TEST_NETWORK,
  testnet4: TEST_NETWORK,
  signet: TEST_NETWORK,
  regtest: { ...TEST_NETWORK, bech32: 'bcrt' },
} as const;

const network = fc.constantFrom<NetworkName>(...(Object.keys(theirs) as NetworkName[]));
const bytes = (length: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength: length, maxLength: length });
const p2a = Uint8Array.of(0x51, 0x02, 0x4e, 0x73);

/** Scripts that have an address in both libraries, or that look as if they had one. */
const script = fc.oneof(
  bytes(20).map((hash) => Uint8Array.of(0x76, 0xa9, 20, ...hash, 0x88, 0xac)),
  bytes(20).map((hash) => Uint8Array.of(0xa9, 20, ...hash, 0x87)),
  bytes(20).map((hash) => Uint8Array.of(0, 20, ...hash)),
  bytes(32).map((hash) => Uint8Array.of(0, 32, ...hash)),
  bytes(32).map((key) => Uint8Array.of(0x51, 32, ...key)),
  bytes(33).map((key) => Uint8Array.of(33, ...key, 0xac)),
  bytes(65).map((key) => Uint8Array.of(65, ...key, 0xac)),
  fc.constant(p2a),
  fc.uint8Array({ maxLength: 60 }),
);

/** The other library's address of a script; `null` if the library finds none. */
function theirAddress(output: Uint8Array, name: NetworkName): string | null {
  try {
    const decoded = OutScript.decode(output);
    return Address(theirs[name]).encode(decoded as Parameters<ReturnType<typeof Address>['encode']>[0]);
  } catch {
    return null;
  }
}

function theirScript(text: string, name: NetworkName): Uint8Array | null {
  try {
    return OutScript.encode(Address(theirs[name]).decode(text));
  } catch {
    return null;
  }
}

describe('addresses, beside those of @scure/btc-signer', () => {
  test('are the same for every script that it knows an address of, and are parsed alike', () => {
    fc.assert(
      fc.property(script, network, (output, name) => {
        const address = theirAddress(output, name);
        if (address === null) return;
        expect(scriptToAddress(output, networks[name])).toBe(address);
        const ours = parseAddress(address, networks[name]);
        expect(ours).toEqual({ kind: 'script', script: output });
        expect(theirScript(address, name)).toEqual(output);
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('are refused alike if a character is changed', () => {
    const changed = fc.record({
      output: script,
      name: network,
      at: fc.nat(90),
      to: fc.constantFrom('q', 'p', 'z', '9', 'x', '8', 'l', '1', 'b', 'i', 'o', 'B', '0'),
    });
    fc.assert(
      fc.property(changed, ({ output, name, at, to }) => {
        const address = theirAddress(output, name);
        if (address === null || at >= address.length) return;
        const text = address.slice(0, at) + to + address.slice(at + 1);
        if (theirScript(text, name) !== null) expect(parseAddress(text, networks[name]).kind).toBe('script');
        else if (text !== address) expect(parseAddress(text, networks[name]).kind).toBe('refused');
      }),
      { numRuns: propertyRuns(300) },
    );
  });
});

// the reason for our own code (docs/dependencies.md): ord and Bitcoin Core show these addresses, the other library does
// not
describe('addresses that ord and Bitcoin Core show and @scure/btc-signer does not', () => {
  const versions = fc.integer({ min: 1, max: 16 });
  const program = fc.uint8Array({ minLength: 2, maxLength: 40 });

  test('are those of future witness versions and lengths', () => {
    let beyond = 0;
    fc.assert(
      fc.property(versions, program, network, (version, data, name) => {
        const output = Uint8Array.of(0x50 + version, data.length, ...data);
        const address = scriptToAddress(output, networks[name]);
        expect(address).toBe(bech32m.encode(networks[name].bech32, [version, ...bech32m.toWords(data)]));
        expect(parseAddress(address ?? '', networks[name])).toEqual({ kind: 'script', script: output });
        if (theirAddress(output, name) === null) beyond++;
      }),
    );
    expect(beyond).toBeGreaterThan(15);
  });

  test('are those of taproot outputs whose key is no point of the curve', () => {
    // no point of secp256k1 has x = 5; the chain has such outputs, which no key can spend
    const output = Uint8Array.of(0x51, 32, ...new Uint8Array(31), 5);
    expect(scriptToAddress(output, networks.mainnet)).toMatch(/^bc1p/u);
    expect(theirAddress(output, 'mainnet')).toBeNull();
  });

  test('P2PK has none, of either kind of key', () => {
    const key = createHash('sha256').update('key').digest();
    for (const output of [Uint8Array.of(33, 2, ...key, 0xac), Uint8Array.of(65, 4, ...key, ...key, 0xac)])
      expect(scriptToAddress(output, networks.mainnet)).toBeNull();
  });
});
