import assert from 'node:assert/strict';

/** Amounts that each client of a process holds, for example slots or bytes, and the sum of these amounts. */
export class HeldByClient {
  #total = 0;
  /** Amounts by client. Clients that hold nothing are absent. */
  readonly #of = new Map<string, number>();

  get total(): number {
    return this.#total;
  }

  of(client: string): number {
    return this.#of.get(client) ?? 0;
  }

  /** @param amount a negative number if the amount is given back */
  add(client: string, amount: number): void {
    const held = this.of(client) + amount;
    assert(held >= 0, 'no more is given back than was taken');
    this.#total += amount;
    if (held === 0) this.#of.delete(client);
    else this.#of.set(client, held);
  }
}
