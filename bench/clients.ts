/** Number of clients at once. */
export const clients = 16;

/** Work of clients at once. Each begins the next piece after its last one. Returns the milliseconds of each piece. */
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
