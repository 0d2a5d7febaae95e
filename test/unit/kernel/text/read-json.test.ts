import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isKept } from '#kernel/text/json-number.ts';
import { faultsIn, type JsonOptions, readJson } from '#kernel/text/read-json.ts';
import { textFault } from '#kernel/text/text-fault.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const numbers: JsonOptions = { wholeNumbers: 'numbers', depthMax: 500 };
const exact: JsonOptions = { wholeNumbers: 'exact', depthMax: 500 };

/** Texts that are often awkward: they contain NUL, halves of surrogate pairs, and similar escapes. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc
    .array(fc.constantFrom('\0', '\ud800', '\udc00', '🟠', '\\u0000', '\\ud800', '"', '\\', 'a', '9'), {
      maxLength: 6,
    })
    .map((parts) => parts.join('')),
);
/** Names without `__proto__`, which cannot be a field of the objects that tests make. */
const name = text.filter((given) => given !== '__proto__');
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(true, false, null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4 }),
  ),
})).value;

/** Counts the awkward texts and names in a value. A second implementation of the rule, without positions. */
function awkward(given: unknown): number {
  if (typeof given === 'string') return textFault(given) === null ? 0 : 1;
  if (typeof given !== 'object' || given === null) return 0;
  const names = Array.isArray(given) ? 0 : awkwardNames(given);
  return Object.values(given).reduce((sum: number, part) => sum + awkward(part), names);
}
const awkwardNames = (given: object): number =>
  Object.keys(given).filter((one) => textFault(one) !== null).length;

describe('JSON', () => {
  test('equals JSON.parse if its texts can be kept; otherwise each of the others is named', () => {
    fc.assert(
      fc.property(value, (given) => {
        const json = JSON.stringify(given);
        const read = readJson(json, numbers);
        const count = awkward(JSON.parse(json));
        if (count === 0) expect(read).toEqual({ kind: 'read', value: JSON.parse(json) as unknown });
        else expect(read.kind === 'faulty' && read.faults.length).toBe(count);
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test.each([
    ['{"files":[{},{"name":"a\\u0000.txt"}]}', 'files[1].name', 'has a NUL character (U+0000)'],
    ['{"a b":{"\\"x":"\\ud800"}}', '["a b"]["\\"x"]', 'is not valid Unicode'],
    ['"\\udc00\\ud800"', '', 'is not valid Unicode'],
    ['[[1e400]]', '[0][0]', 'is a number that cannot be kept exactly; send it as a text'],
    ['{"a":9007199254740993}', 'a', 'is a number that cannot be kept exactly; send it as a text'],
  ])('%s has a fault at %s', (json, path, reason) => {
    expect(readJson(json, numbers)).toEqual({ kind: 'faulty', faults: [{ path, isName: false, reason }] });
  });

  test('names the object whose field has an awkward name, and reports all faults in their order', () => {
    const json = '{"a":"\\u0000","b":[{"\\ud800":1e999,"c":"\\ud800"}],"d":"\\u0000"}';
    const read = readJson(json, numbers);
    expect(read.kind === 'faulty' && read.faults.map(({ path, isName }) => [path, isName])).toEqual([
      ['a', false],
      ['b[0]', true],
      ['b[0]["\\ud800"]', false],
      ['b[0].c', false],
      ['d', false],
    ]);
    const many = readJson(JSON.stringify(Array(200).fill('\0')), numbers);
    expect(many.kind === 'faulty' && many.faults).toHaveLength(50);
  });

  test('with an escaped backslash before u0000, or a whole pair, is read', () => {
    for (const json of [String.raw`"\\u0000"`, String.raw`"\\\\ud800"`, String.raw`"\ud83d\udfe0"`]) {
      expect(readJson(json, numbers)).toEqual({ kind: 'read', value: JSON.parse(json) as unknown });
    }
  });

  test('that is deeper than allowed is refused before it is parsed; brackets within texts do not count', () => {
    const nested = (levels: number): string => `${'['.repeat(levels)}"[[[{{{"${']'.repeat(levels)}`;
    expect(readJson(nested(5), { ...exact, depthMax: 5 }).kind).toBe('read');
    expect(readJson(nested(6), { ...exact, depthMax: 5 })).toMatchObject({
      faults: [{ path: '', reason: 'is nested deeper than 5 levels' }],
    });
    expect(readJson('['.repeat(1_000_000), exact).kind).toBe('faulty');
  });

  test.each(['', '{', '[1,]', '{"a":01}', '"\\x"', '\ufeff1', 'nul', '"a'])('%j is broken', (json) => {
    expect(readJson(json, numbers).kind).toBe('broken');
  });

  test('shortens the places of deep and long names', () => {
    let deep: unknown = '\0';
    for (let level = 0; level < 100; level++) deep = { ['n'.repeat(100)]: deep };
    const [fault] = faultsIn(deep);
    expect(fault!.path.length).toBeLessThan(600);
  });
});

/** A number as a fraction of two integers. */
type Fraction = readonly [bigint, bigint];

/** The exact number that a JSON text states. */
function written(source: string): Fraction {
  const [, sign, whole = '', decimals = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/u.exec(source) ?? [];
  const digits = BigInt(whole + decimals) * (sign === '-' ? -1n : 1n);
  const exponent = Number(power) - decimals.length;
  return exponent >= 0 ? [digits * 10n ** BigInt(exponent), 1n] : [digits, 10n ** BigInt(-exponent)];
}

/** The exact number that a double holds. */
function held(value: number): Fraction {
  let [numerator, power] = [value, 0];
  while (!Number.isInteger(numerator)) {
    numerator *= 2;
    power++;
  }
  return [BigInt(numerator), 2n ** BigInt(power)];
}

const absolute = (number: bigint): bigint => (number < 0n ? -number : number);

/** Whether the difference between a double and a text is at most half of the unit of the text's last digit. */
function isNear(source: string, value: number): boolean {
  const digits = source.replace(/^-?0*\.?0*|[eE].*$/gu, '').replace('.', '').length;
  const [first] = value.toExponential(0).split('e').slice(1);
  const [a, b] = written(source);
  const [c, d] = held(value);
  const difference: Fraction = [absolute(a * d - c * b), b * d];
  // the exponent of the text's last digit, computed from that of its first digit
  const unit = Number(first) - digits + 1;
  const [u, v]: Fraction = unit >= 0 ? [10n ** BigInt(unit), 1n] : [1n, 10n ** BigInt(-unit)];
  return difference[0] * 2n * v <= u * difference[1];
}

describe('a number of JSON', () => {
  const double = fc.double({ noNaN: true, noDefaultInfinity: true });

  test('that any program writes from 64 bits is kept, with any number of digits', () => {
    fc.assert(
      fc.property(
        double,
        fc.integer({ min: 16, max: 60 }),
        fc.constantFrom(numbers, exact),
        (given, digits, options) => {
          for (const source of [JSON.stringify(given), given.toExponential(digits), given.toExponential()]) {
            expect(isKept(source, Number(source))).toBe(true);
            if (!/^-?\d{16,}$/u.test(source))
              expect(readJson(source, options)).toEqual({ kind: 'read', value: Number(source) });
          }
        },
      ),
      { numRuns: propertyRuns(500) },
    );
  });

  test('is kept if the double is nearer than half of its last digit', () => {
    const digits = fc.stringMatching(/^[1-9][0-9]{0,24}[1-9]$/u);
    const source = fc
      .tuple(fc.boolean(), digits, fc.nat(26), fc.integer({ min: -30, max: 30 }))
      .map(([isNegative, all, point, power]) => {
        const at = Math.min(point, all.length - 1);
        const number = at === 0 ? `${all}e${power}` : `${all.slice(0, at)}.${all.slice(at)}e${power}`;
        return isNegative ? `-${number}` : number;
      });
    fc.assert(
      fc.property(source, (given) => {
        expect(isKept(given, Number(given))).toBe(isNear(given, Number(given)));
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test.each([
    ['1e400', false],
    ['-1e400', false],
    ['1e-400', false],
    ['0.000e-999999999999', true],
    ['-0', true],
    ['9007199254740992', true],
    ['9007199254740993', false],
    ['9007199254740993.0', false],
    ['1e23', true],
    ['100000000000000000000000', true],
    ['123456789012345678901234567890', false],
    ['0.1', true],
    // 28864917948661.8125
    ['28864917948661.812', true],
    ['28864917948661.813', true],
    ['28864917948661.8121', false],
    ['0.10000000000000001', true],
    ['0.1000000000000000055511151231257827', true],
    ['2.0000000000000000001', false],
    ['3.14159265358979323846', false],
    ['5e-324', true],
    ['4.9e-324', true],
  ])('%s is kept: %s', (source, expected) => {
    expect(isKept(source, Number(source))).toBe(expected);
    expect(readJson(source, numbers).kind).toBe(expected ? 'read' : 'faulty');
  });

  test('of hundreds of digits is kept if they are zeros', () => {
    expect(readJson('1'.repeat(500), numbers).kind).toBe('faulty');
    expect(readJson(`0.${'0'.repeat(300)}1`, numbers).kind).toBe('read');
  });

  test('that is whole keeps its digits from -2^63 to 2^64 - 1, and is refused beyond', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 66n), max: 2n ** 66n }), (given) => {
        const read = readJson(String(given), exact);
        const isHeld = given >= -(2n ** 63n) && given < 2n ** 64n;
        if (!isHeld) expect(read.kind).toBe('faulty');
        else expect(read.kind === 'read' && BigInt(read.value as number)).toBe(given);
      }),
      { numRuns: propertyRuns(300) },
    );
    for (const [source, kind] of [
      ['18446744073709551615', 'read'],
      ['18446744073709551616', 'faulty'],
      ['-9223372036854775808', 'read'],
      ['-9223372036854775809', 'faulty'],
      ['1'.repeat(10_000), 'faulty'],
    ] as const)
      expect(readJson(source, exact).kind).toBe(kind);
  });
});
