import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { displayHash } from '#kernel/primitives/hash.ts';
import { readPayment } from '#psbts/submitting/read-payment.ts';
import { refusalWords } from '#psbts/submitting/refusal-words.ts';
import { scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const coin = { txid: 'ab'.repeat(32), vout: 0, value: 10_000_000, owner: 1 };
const made = transaction([coin], [{ value: 90_000, to: 2 }]);
/** The transaction in hex with some bytes replaced. */
const changed = (from: string, to: string): string => made.hex.replace(from, to);

describe('a signed payment in hex', () => {
  test('is read, in either case and with blanks around it', () => {
    for (const hex of [made.hex, made.hex.toUpperCase(), ` ${made.hex}\n`]) {
      const read = readPayment(hex);
      if (typeof read === 'string') throw new Error(read);
      expect(displayHash(read.txid)).toBe(made.txid);
    }
  });

  test('is refused if nodes would not relay it', () => {
    const paying = (value: number, outputScript?: Uint8Array): string =>
      transaction([coin], [{ value, ...(outputScript === undefined ? { to: 2 } : { outputScript }) }]).hex;
    const heavy = transaction(
      [coin],
      Array.from({ length: 2400 }, (_, to) => ({ value: 330, to: to % 2 })),
    ).hex;
    const output = `e803000000000000${'225120'}${'11'.repeat(32)}`;
    const unsigned = `0200000001${'ab'.repeat(32)}0000000000fdffffff01${output}00000000`;
    expect({
      empty: readPayment(''),
      base64: readPayment('cHNidP8='),
      psbt: readPayment('70736274ff01'),
      odd: readPayment('abc'),
      none: readPayment('00'),
      more: readPayment(`${made.hex}00`),
      unsigned: readPayment(unsigned),
      version: readPayment(changed('02000000', '05000000')),
      'no inputs': readPayment(`020000000000${output}00000000`),
      dust: readPayment(paying(329)),
      burnt: readPayment(paying(500, Uint8Array.of(0x6a, 1, 1))),
      heavy: readPayment(heavy),
      long: readPayment('00'.repeat(400_001)),
    }).toMatchInlineSnapshot(`
      {
        "base64": "hex is not hex. Send a PSBT to POST /tokenpay/utils/finalize-psbt first.",
        "burnt": "Output 0 burns 500 sats, but no payment of an order burns sats. Send the transaction with sendrawtransaction and a maxburnamount.",
        "dust": "Output 0 has 329 sats, but nodes relay at least 330.",
        "empty": "hex is required.",
        "heavy": "hex is a transaction of 413080 weight units, but nodes relay at most 400000.",
        "long": "hex has 800002 characters, but nodes do not relay a transaction with more than 400000 bytes.",
        "more": "hex is not a transaction.",
        "no inputs": "hex is not a transaction.",
        "none": "hex is not a transaction.",
        "odd": "hex is not hex. Send a PSBT to POST /tokenpay/utils/finalize-psbt first.",
        "psbt": "hex is a PSBT. Make a transaction from it with POST /tokenpay/utils/finalize-psbt.",
        "unsigned": "Input 0 is not signed.",
        "version": "hex is a transaction of version 5, which nodes do not relay.",
      }
    `);
    // an OP_RETURN without value, and the smallest outputs that nodes relay
    for (const hex of [
      paying(0, Uint8Array.of(0x6a, 1, 1)),
      paying(330),
      paying(240, Uint8Array.of(0x51, 2, 0x4e, 0x73)),
    ])
      expect(typeof readPayment(hex)).toBe('object');
    expect(typeof readPayment(paying(293, scriptOf(3, 'p2wpkh')))).toBe('string');
  });

  test('of any text is a transaction or a sentence', () => {
    const mutated = fc
      .record({
        at: fc.nat(made.hex.length / 2 - 1),
        byte: fc.integer({ min: 0, max: 255 }),
        length: fc.nat(300),
      })
      .map(({ at, byte, length }) => {
        const bytes = Buffer.from(made.hex, 'hex');
        bytes[at] = byte;
        return bytes.subarray(0, length % 4 === 0 ? length : undefined).toString('hex');
      });
    fc.assert(
      fc.property(
        fc.oneof(
          mutated,
          fc.string(),
          fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('hex')),
        ),
        (text) => {
          const read = readPayment(text);
          if (typeof read === 'string') expect(read.length).toBeGreaterThan(10);
          else expect(read.inputs.length).toBeGreaterThan(0);
        },
      ),
      { numRuns: propertyRuns(500) },
    );
  });
});

test("a refusal of the node has words for people, and Core's own", () => {
  expect(refusalWords('min relay fee not met, 5 < 10')).toBe(
    'The node does not accept the transaction, because its fee is below what the node relays; sign a transaction with a higher fee (min relay fee not met, 5 < 10).',
  );
  expect(refusalWords('something new')).toBe('The node does not accept the transaction: something new.');
});
