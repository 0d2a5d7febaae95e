/** Number of concurrent clients. */
export const clients = 16;

/**
 * Divides work among concurrent clients. Each client begins a new piece after its last piece. Returns how long each
 * piece took, in ms.
 */
export async function byClients(pieces: number, work: (piece: number) => Promise<void>): Promise<number[]> {
  const times: number[] = [];
  let begun = 0;
  const client = async (): Promise<void> => {
    while (begun < pieces) {
      const piece = begun++;
      const startedAt = performance.now();
      await work(piece);
      times.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return times;
}
