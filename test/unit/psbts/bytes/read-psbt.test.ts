import { Transaction } from '@scure/btc-signer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Steps } from '#kernel/concurrency/work-in-steps.ts';
import { networks } from '#kernel/primitives/network.ts';
import { type FinalTransaction, finalizePsbt } from '#psbts/bytes/finalize-psbt.ts';
import { PsbtFaults } from '#psbts/bytes/psbt-faults.ts';
import { psbtBytes } from '#psbts/bytes/psbt-text.ts';
import { type PsbtCoin, signInput, unsignedPsbt } from '#test/builders/psbts/signed-psbts.ts';
import { addressTypes, typedAddress } from '#test/builders/regtest/regtest-address.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

/** Finalizes PSBTs. Returns the outcome, and how much work it took. */
function outcome(...texts: readonly (string | Uint8Array)[]): {
  readonly final: FinalTransaction | null;
  readonly faults: readonly string[];
  readonly work: number;
} {
  let work = 0;
  function* all(): Steps<FinalTransaction> {
    const signed: Uint8Array[] = [];
    for (const text of texts) signed.push(yield* psbtBytes(text, 'psbt'));
    const [first, ...others] = signed;
    return yield* finalizePsbt([first!, ...others], networks.regtest);
  }
  const steps = all();
  try {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return { final: step.value, faults: [], work };
      work += step.value;
    }
  } catch (error) {
    if (!(error instanceof PsbtFaults)) throw error;
    return { final: null, faults: error.faults, work };
  }
}
const faultOf = (text: string | Uint8Array): string | undefined => outcome(text).faults[0];

const coins = addressTypes.map((type, owner): PsbtCoin => ({ owner, type, value: 2000n, sighash: null }));
const drawn = { coins, outputs: [{ script: typedAddress(1, 'p2tr').script, value: 1000n }], lockTime: 0 };
function signedPsbt(): Transaction {
  const psbt = unsignedPsbt(drawn);
  for (const [place, each] of coins.entries()) signInput(psbt, place, each);
  return psbt;
}
const whole = Buffer.from(signedPsbt().toPSBT());
const hexText = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Makes a PSBT from its maps. Each map is a list of [key, value] in hex. */
function handMade(maps: readonly (readonly (readonly [string, string])[])[]): string {
  const sized = (hex: string): string => {
    const length = hex.length / 2;
    const size = length < 0xfd ? [length] : [0xfd, length & 0xff, length >> 8];
    return Buffer.from(size).toString('hex') + hex;
  };
  const texts = maps.map((map) => `${map.map(([key, value]) => sized(key) + sized(value)).join('')}00`);
  return `70736274ff${texts.join('')}`;
}
const littleEndian = (value: number): string => Buffer.from([value & 0xff, value >> 8, 0, 0]).toString('hex');

/** A transaction with one input and one output, or with other counts of these. */
const raw = (inputs = '01', outputs = '01'): string =>
  `02000000${inputs}${inputs === '00' ? '' : `${'11'.repeat(32)}0000000000fdffffff`}${outputs}${outputs === '00' ? '' : 'e80300000000000001'}${outputs === '00' ? '' : '51'}00000000`;

describe('texts of PSBTs', () => {
  test('are hex or base64, in either alphabet, with padding or without', () => {
    const { final } = outcome(whole.toString('base64'));
    expect(final).not.toBe(null);
    for (const text of [
      whole.toString('hex'),
      whole.toString('hex').toUpperCase(),
      whole.toString('base64url'),
      whole.toString('base64').replaceAll('=', ''),
      ` ${whole.toString('base64')}\n`,
      Buffer.from(whole.toString('base64')),
    ])
      expect(hexText(outcome(text).final!.bytes)).toBe(hexText(final!.bytes));
  });

  test('are refused with words of their own', () => {
    const unsigned = [['00', raw()]] as const;
    const transaction = signedPsbt();
    transaction.finalize();
    expect({
      empty: faultOf(' '),
      words: faultOf('not a psbt'),
      'odd hex': faultOf('70736274f'),
      'other bytes': faultOf('aGVsbG8='),
      'a transaction': faultOf(transaction.hex),
      'cut short': faultOf(whole.subarray(0, -20).toString('hex')),
      'cut in its head': faultOf('70736274ff'),
      'more after it': faultOf(`${whole.toString('hex')}00`),
      'no transaction': faultOf(handMade([[['01', '']]])),
      'version 2': faultOf(handMade([[['fb', '02000000']]])),
      'version 1': faultOf(handMade([[['fb', '01000000']]])),
      'no inputs': faultOf(handMade([[['00', raw('00')]], []])),
      'no outputs': faultOf(handMade([[['00', raw('01', '00')]], []])),
      'a key twice': faultOf(handMade([[...unsigned, ...unsigned], [], []])),
      'a long key': faultOf(handMade([unsigned, [['0101', '00']], []])),
      'a damaged transaction': faultOf(handMade([[['00', raw().slice(0, -2)]], [], []])),
      'a damaged output': faultOf(handMade([unsigned, [['01', '00']], []])),
      'a damaged previous transaction': faultOf(handMade([unsigned, [['00', '00']], []])),
      'another previous transaction': faultOf(handMade([unsigned, [['00', raw()]], []])),
      'not signed': faultOf(handMade([unsigned, [], []])),
      'too large': faultOf('00'.repeat(1_000_001)),
    }).toMatchInlineSnapshot(`
      {
        "a damaged output": "Input 0: its spent output is damaged.",
        "a damaged previous transaction": "Input 0: its previous transaction is damaged.",
        "a damaged transaction": "psbt has a transaction that is damaged.",
        "a key twice": "psbt is damaged, because the transaction has the same key twice",
        "a long key": "psbt is damaged, because the key of the spent output of input 0 is too long",
        "a transaction": "psbt is already a transaction; send it as hex to POST /tokenpay/utils/submittx",
        "another previous transaction": "Input 0: the given previous transaction is not the transaction that the input spends.",
        "cut in its head": "psbt is truncated, because its 5 bytes end in the middle of a field",
        "cut short": "psbt is truncated, because its 3028 bytes end in the middle of a field",
        "empty": "psbt is required.",
        "more after it": "psbt has bytes after its last output, from byte 3048 on",
        "no inputs": "psbt has a transaction without inputs",
        "no outputs": "psbt has a transaction without outputs",
        "no transaction": "psbt has no transaction",
        "not signed": "Input 0 is not signed, and the PSBT does not say which output it spends.",
        "odd hex": "psbt is hex with an odd number of digits.",
        "other bytes": "psbt is not a PSBT, because it does not begin with "psbt" and 0xff",
        "too large": "psbt has 2000002 characters, but a PSBT may have at most 1000000 bytes.",
        "version 1": "psbt has an unknown version; only version 0 (BIP 174) is accepted",
        "version 2": "psbt has version 2 (BIP 370); export it from your wallet as version 0 (BIP 174)",
        "words": "psbt is neither hex nor base64 (it is not clearly base64, because its spaces may have been plus signs; leave the spaces out, and write + as %2B).",
      }
    `);
  });

  test('of a transaction that nodes do not relay are refused before they are read', () => {
    const outputs = `fd${Buffer.from([20_000 & 0xff, 20_000 >> 8]).toString('hex')}${'e8030000000000000151'.repeat(20_000)}`;
    const unsigned = `0200000001${'11'.repeat(32)}0000000000fdffffff${outputs}00000000`;
    const size = unsigned.length / 2;
    const length = Buffer.from([0xfe, size & 0xff, (size >> 8) & 0xff, size >> 16, 0]).toString('hex');
    expect(faultOf(`70736274ff0100${length}${unsigned}00`)).toContain('nodes relay at most 400000');
  });
});

describe('any bytes', () => {
  test('are a transaction or faults, and never anything else', () => {
    const mutated = fc
      .record({
        cut: fc.integer({ min: 0, max: whole.length }),
        changes: fc.array(
          fc.record({ at: fc.nat(whole.length - 1), byte: fc.integer({ min: 0, max: 255 }) }),
          { maxLength: 4 },
        ),
        isCut: fc.boolean(),
      })
      .map(({ cut, changes, isCut }) => {
        const bytes = Buffer.from(isCut ? whole.subarray(0, cut) : whole);
        for (const { at, byte } of changes) if (at < bytes.length) bytes[at] = byte;
        return bytes;
      });
    const framed = fc
      .uint8Array({ maxLength: 300 })
      .map((bytes) => Buffer.concat([whole.subarray(0, 5), bytes]));
    const texts = fc.oneof(
      mutated.map((bytes) => bytes.toString('base64')),
      framed.map((bytes) => bytes.toString('hex')),
      fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('base64')),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(texts, { minLength: 1, maxLength: 3 }), (drawnTexts) => {
        const { final, faults } = outcome(...drawnTexts);
        expect(final === null).toBe(faults.length > 0);
        for (const fault of faults) expect(fault.length).toBeLessThan(1000);
      }),
      { numRuns: propertyRuns(400) },
    );
  });

  test('take work that grows with their number, up to a bound of checked signatures', {
    tags: ['proof'],
  }, () => {
    // 600 inputs with a signature for another transaction; 500 of these signatures are checked
    const other = unsignedPsbt({ ...drawn, coins: [coins[3]!] });
    signInput(other, 0, coins[3]!);
    const { partialSig, witnessUtxo } = other.getInput(0);
    const [[publicKey, signature]] = partialSig as unknown as [[Uint8Array, Uint8Array]];
    const spent = `d007000000000000${Buffer.of(witnessUtxo!.script.length).toString('hex')}${hexText(witnessUtxo!.script)}`;
    const outpoints = Array.from(
      { length: 600 },
      (_, place) => `${'11'.repeat(32)}${littleEndian(place)}00fdffffff`,
    );
    const unsigned = `02000000fd5802${outpoints.join('')}01e803000000000000015100000000`;
    const map = [
      ['01', spent],
      [`02${hexText(publicKey)}`, hexText(signature)],
    ] as const;
    const text = handMade([[['00', unsigned]], ...outpoints.map(() => map), []]);
    const { final, faults, work } = outcome(text);
    expect([final, faults.length]).toEqual([null, 500]);
    expect(work).toBeLessThan(500 * 1_000_000 + text.length * 20);
    expect(work).toBeGreaterThan(500 * 1_000_000);
  });
});
