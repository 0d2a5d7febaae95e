// QR codes (ISO/IEC 18004) of short texts: bytes mode, error correction M, versions 1 to 10. Pure.

/** Three numbers for each version: codewords, error correction codewords per block, and blocks. */
const versions = /** @type {const} */ ([
  [26, 10, 1],
  [44, 16, 1],
  [70, 26, 1],
  [100, 18, 2],
  [134, 24, 2],
  [172, 16, 4],
  [196, 18, 4],
  [242, 22, 4],
  [292, 22, 5],
  [346, 26, 5],
]);

/** Centres of the alignment patterns of each version, in both directions. */
const alignments = [
  [],
  [6, 18],
  [6, 22],
  [6, 26],
  [6, 30],
  [6, 34],
  [6, 22, 38],
  [6, 24, 42],
  [6, 26, 46],
  [6, 28, 50],
];

/** Exponents and logarithms of the field with 256 elements, with the standard's polynomial. */
const exponents = new Uint8Array(255);
const logarithms = new Uint8Array(256);
for (let power = 0, value = 1; power < 255; power++) {
  exponents[power] = value;
  logarithms[value] = power;
  value = value < 128 ? value << 1 : (value << 1) ^ 0x11d;
}

/**
 * @param {number} left
 * @param {number} right
 */
function product(left, right) {
  if (left === 0 || right === 0) return 0;
  return at(exponents, (at(logarithms, left) + at(logarithms, right)) % 255);
}

/**
 * The item at an index. Throws if there is no such item.
 *
 * @template Item
 * @param {ArrayLike<Item>} items
 * @param {number} index
 * @returns {Item}
 */
function at(items, index) {
  const item = items[index];
  if (item === undefined) throw new RangeError(`no item ${index} of ${items.length}`);
  return item;
}

/**
 * Reed-Solomon codewords of a block: the remainder after division of the block's polynomial by the generator
 * polynomial.
 *
 * @param {readonly number[]} data
 * @param {number} count
 */
function correctionOf(data, count) {
  // coefficients after the leading 1, highest power first
  let divisor = [1];
  for (let power = 0; power < count; power++) {
    const root = at(exponents, power);
    divisor = [...divisor, 0].map(
      (factor, index) => factor ^ (index === 0 ? 0 : product(at(divisor, index - 1), root)),
    );
  }
  const rest = /** @type {number[]} */ (new Array(count).fill(0));
  for (const value of data) {
    const factor = value ^ at(rest, 0);
    rest.shift();
    rest.push(0);
    for (let index = 0; index < count; index++) {
      rest[index] = at(rest, index) ^ product(at(divisor, index + 1), factor);
    }
  }
  return rest;
}

/**
 * The codewords of a text, in order. Null if the text is too long.
 *
 * @param {string} text
 * @returns {{ readonly version: number, readonly codewords: readonly number[] } | null}
 */
function codewordsOf(text) {
  const bytes = new TextEncoder().encode(text);
  for (const [index, [total, correction, blocks]] of versions.entries()) {
    const version = index + 1;
    const lengthBits = version < 10 ? 8 : 16;
    const dataMax = total - correction * blocks;
    if (4 + lengthBits + 8 * bytes.length > 8 * dataMax) continue;
    return { version, codewords: interleaved(dataOf(bytes, lengthBits, dataMax), correction, blocks) };
  }
  return null;
}

/**
 * @param {Uint8Array} bytes
 * @param {number} lengthBits
 * @param {number} count
 */
function dataOf(bytes, lengthBits, count) {
  const bits = /** @type {number[]} */ ([]);
  /** @param {number} value @param {number} width */
  const add = (value, width) => {
    for (let bit = width - 1; bit >= 0; bit--) bits.push((value >> bit) & 1);
  };
  // indicator of bytes mode
  add(4, 4);
  add(bytes.length, lengthBits);
  for (const byte of bytes) add(byte, 8);
  add(0, Math.min(4, 8 * count - bits.length));
  while (bits.length % 8 > 0) bits.push(0);
  const data = /** @type {number[]} */ ([]);
  for (let first = 0; first < bits.length; first += 8) {
    data.push(bits.slice(first, first + 8).reduce((value, bit) => (value << 1) | bit, 0));
  }
  for (let filler = 0xec; data.length < count; filler ^= 0xec ^ 0x11) data.push(filler);
  return data;
}

/**
 * Data in blocks, shorter blocks first, and the correction codewords of each block. The blocks are interleaved codeword
 * by codeword.
 *
 * @param {readonly number[]} data
 * @param {number} correction
 * @param {number} count
 */
function interleaved(data, correction, count) {
  const short = Math.floor(data.length / count);
  const shortBlocks = count - (data.length % count);
  const blocks = Array.from({ length: count }, (_, index) => {
    const first = index * short + Math.max(0, index - shortBlocks);
    return data.slice(first, first + short + (index < shortBlocks ? 0 : 1));
  });
  const corrections = blocks.map((block) => correctionOf(block, correction));
  return [blocks, corrections].flatMap((each) =>
    Array.from({ length: Math.max(...each.map(({ length }) => length)) }, (_, index) =>
      each.flatMap((block) => block[index] ?? []),
    ).flat(),
  );
}

/** The eight masks. A module of data is inverted if its mask is 0. */
const masks = /** @type {readonly ((row: number, column: number) => number)[]} */ ([
  (row, column) => (row + column) % 2,
  (row) => row % 2,
  (_, column) => column % 3,
  (row, column) => (row + column) % 3,
  (row, column) => (Math.floor(row / 2) + Math.floor(column / 3)) % 2,
  (row, column) => ((row * column) % 2) + ((row * column) % 3),
  (row, column) => (((row * column) % 2) + ((row * column) % 3)) % 2,
  (row, column) => (((row + column) % 2) + ((row * column) % 3)) % 2,
]);

/**
 * @param {number} value
 * @param {number} polynomial of the code
 * @param {number} width bits of correction
 */
function withCheck(value, polynomial, width) {
  let rest = value << width;
  for (let bit = 31 - Math.clz32(rest); bit >= width; bit--) {
    if ((rest >> bit) & 1) rest ^= polynomial << (bit - width);
  }
  return (value << width) | rest;
}

/** Patterns of modules that a scanner may mistake for a corner. */
const cornerLike = ['00001011101', '10111010000'];

/** A QR code while its modules are drawn. The grid says which modules are dark, and which modules are not data. */
class Grid {
  /** @param {number} version */
  constructor(version) {
    this.version = version;
    this.size = 17 + 4 * version;
    this.dark = new Uint8Array(this.size * this.size);
    this.fixed = new Uint8Array(this.size * this.size);
  }

  /** @param {number} row @param {number} column */
  isDark(row, column) {
    return this.dark[row * this.size + column] === 1;
  }

  /**
   * Sets a module that is not data. Ignores modules outside the grid.
   *
   * @param {number} row
   * @param {number} column
   * @param {boolean} isDark
   */
  fix(row, column, isDark) {
    if (row < 0 || column < 0 || row >= this.size || column >= this.size) return;
    this.dark[row * this.size + column] = isDark ? 1 : 0;
    this.fixed[row * this.size + column] = 1;
  }

  drawPatterns() {
    const { size, version } = this;
    for (let index = 0; index < size; index++) {
      this.fix(6, index, index % 2 === 0);
      this.fix(index, 6, index % 2 === 0);
    }
    // draw the corners with their light borders
    for (const [row, column] of /** @type {const} */ ([
      [3, 3],
      [3, size - 4],
      [size - 4, 3],
    ]))
      this.#square(row, column, 4, (distance) => distance !== 2 && distance !== 4);
    const centres = at(alignments, version - 1);
    const last = centres.at(-1);
    for (const row of centres)
      for (const column of centres) {
        const isFinder = (row === 6 && (column === 6 || column === last)) || (row === last && column === 6);
        if (!isFinder) this.#square(row, column, 2, (distance) => distance !== 1);
      }
    if (version < 7) return;
    const bits = withCheck(version, 0x1f25, 12);
    for (let bit = 0; bit < 18; bit++) {
      const [short, long] = [Math.floor(bit / 3), size - 11 + (bit % 3)];
      this.fix(short, long, ((bits >> bit) & 1) === 1);
      this.fix(long, short, ((bits >> bit) & 1) === 1);
    }
  }

  /**
   * @param {number} row
   * @param {number} column
   * @param {number} radius
   * @param {(distance: number) => boolean} isDark by the distance from the centre
   */
  #square(row, column, radius, isDark) {
    for (let down = -radius; down <= radius; down++)
      for (let right = -radius; right <= radius; right++)
        this.fix(row + down, column + right, isDark(Math.max(Math.abs(down), Math.abs(right))));
  }

  /** @param {number} mask */
  drawFormat(mask) {
    const { size } = this;
    // the bits of error correction level M are 00
    const bits = withCheck(mask, 0x537, 10) ^ 0x5412;
    for (let bit = 0; bit < 15; bit++) {
      const isDark = ((bits >> bit) & 1) === 1;
      if (bit < 6) this.fix(bit, 8, isDark);
      else if (bit < 8) this.fix(bit + 1, 8, isDark);
      else if (bit === 8) this.fix(8, 7, isDark);
      else this.fix(8, 14 - bit, isDark);
      if (bit < 8) this.fix(8, size - 1 - bit, isDark);
      else this.fix(size - 15 + bit, 8, isDark);
    }
    this.fix(size - 8, 8, true);
  }

  /**
   * Draws data up and down in columns of two, from the right. The column of the timing pattern is left out.
   *
   * @param {readonly number[]} codewords
   */
  drawData(codewords) {
    const { size } = this;
    let bit = 0;
    for (let pair = 0; pair < (size - 1) / 2; pair++) {
      const right = size - 1 - 2 * pair - (size - 1 - 2 * pair <= 6 ? 1 : 0);
      for (let step = 0; step < size; step++) {
        const row = pair % 2 === 0 ? size - 1 - step : step;
        for (const column of [right, right - 1]) {
          const place = row * size + column;
          if (this.fixed[place] === 1) continue;
          const codeword = codewords[bit >> 3] ?? 0;
          this.dark[place] = (codeword >> (7 - (bit & 7))) & 1;
          bit += 1;
        }
      }
    }
  }

  /** @param {number} mask */
  invert(mask) {
    const { size } = this;
    const isInverted = at(masks, mask);
    for (let row = 0; row < size; row++)
      for (let column = 0; column < size; column++) {
        const place = row * size + column;
        if (this.fixed[place] === 0 && isInverted(row, column) === 0)
          this.dark[place] = at(this.dark, place) ^ 1;
      }
  }

  /**
   * How difficult the code is to read, as a number. It counts long runs, squares, patterns that look like corners, and
   * the difference between dark and light.
   */
  penalty() {
    const { size } = this;
    let sum = 0;
    let darkCount = 0;
    for (let row = 0; row < size; row++)
      for (let column = 0; column < size; column++) {
        if (this.isDark(row, column)) darkCount += 1;
        if (row > 0 && column > 0) {
          const square = [
            this.isDark(row - 1, column - 1),
            this.isDark(row - 1, column),
            this.isDark(row, column - 1),
          ];
          if (square.every((isDark) => isDark === this.isDark(row, column))) sum += 3;
        }
      }
    for (let line = 0; line < size; line++) {
      const lines = [
        this.#line((index) => this.isDark(line, index)),
        this.#line((index) => this.isDark(index, line)),
      ];
      for (const text of lines) {
        for (const [run] of text.matchAll(/1{5,}|0{5,}/gu)) sum += run.length - 2;
        for (let index = 0; index < size; index++)
          if (cornerLike.some((pattern) => text.startsWith(pattern, index))) sum += 40;
      }
    }
    const share = (100 * darkCount) / (size * size);
    return sum + 10 * Math.floor(Math.abs(share - 50) / 5);
  }

  /** @param {(index: number) => boolean} isDark */
  #line(isDark) {
    return Array.from({ length: this.size }, (_, index) => (isDark(index) ? '1' : '0')).join('');
  }
}

/**
 * The QR code of a text, as rows of modules. A dark module is true. Null if the text has more than 213 bytes.
 *
 * @param {string} text
 * @returns {boolean[][] | null}
 */
export function qrCode(text) {
  const made = codewordsOf(text);
  if (made === null) return null;
  const grids = masks.map((_, mask) => {
    const grid = new Grid(made.version);
    grid.drawPatterns();
    grid.drawFormat(mask);
    grid.drawData(made.codewords);
    grid.invert(mask);
    return { grid, penalty: grid.penalty() };
  });
  const { grid } = grids.reduce((best, each) => (each.penalty < best.penalty ? each : best));
  return Array.from({ length: grid.size }, (_row, row) =>
    Array.from({ length: grid.size }, (_column, column) => grid.isDark(row, column)),
  );
}

/**
 * The dark modules as an SVG path, with one unit per module.
 *
 * @param {readonly (readonly boolean[])[]} rows
 */
export const qrPath = (rows) =>
  rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
