/**
 * Delays of a process' event loop since the last call of this function. Samples are 10 ms apart, and this interval is
 * included.
 */
export async function loopLag(origin: string): Promise<{ p99Ms: number; longestMs: number }> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  const milliseconds = (name: string): number =>
    Number(new RegExp(`^nodejs_eventloop_lag_${name}_seconds (\\S+)$`, 'mu').exec(text)?.[1]) * 1000;
  return { p99Ms: milliseconds('p99'), longestMs: milliseconds('max') };
}
