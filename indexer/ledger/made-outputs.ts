/**
 * The outputs of this block that hold inscriptions: fingerprint of the outpoint -> first of its location rows. Open
 * addressing with linear probing, at most half full. Nothing is ever removed, because a spent output is not looked up
 * again.
 */
export class MadeOutputs {
  size = 0;
  #mask = 1023;
  /** Row + 1 by slot; 0 in an empty slot. */
  #rows = new Int32Array(1024);
  #low = new Uint32Array(1024);
  #high = new Uint32Array(1024);

  add(low: number, high: number, row: number): void {
    if (this.size * 2 > this.#mask) this.#grow();
    let slot = low & this.#mask;
    while (this.#rows[slot] !== 0) slot = (slot + 1) & this.#mask;
    this.#rows[slot] = row + 1;
    this.#low[slot] = low;
    this.#high[slot] = high;
    this.size++;
  }

  /**
   * First location row of an output with that fingerprint. -1: not in the table. `next` finds more outputs with the
   * same fingerprint.
   */
  find(low: number, high: number): number {
    return this.#from(low & this.#mask, low, high);
  }

  /** First row of the next output with the same fingerprint. `row` is the first row of the previous output. */
  next(low: number, high: number, row: number): number {
    let slot = low & this.#mask;
    while (this.#rows[slot] !== row + 1) slot = (slot + 1) & this.#mask;
    return this.#from((slot + 1) & this.#mask, low, high);
  }

  #from(start: number, low: number, high: number): number {
    for (let slot = start; ; slot = (slot + 1) & this.#mask) {
      const row = this.#rows[slot]!;
      if (row === 0) return -1;
      if (this.#low[slot] === low && this.#high[slot] === high) return row - 1;
    }
  }

  #grow(): void {
    const rows = this.#rows;
    const low = this.#low;
    const high = this.#high;
    const slots = rows.length * 2;
    this.#mask = slots - 1;
    this.#rows = new Int32Array(slots);
    this.#low = new Uint32Array(slots);
    this.#high = new Uint32Array(slots);
    this.size = 0;
    for (let slot = 0; slot < rows.length; slot++) {
      const row = rows[slot]!;
      if (row !== 0) this.add(low[slot]!, high[slot]!, row - 1);
    }
  }
}
