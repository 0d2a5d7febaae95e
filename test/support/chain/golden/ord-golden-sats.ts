import type { GoldenChain, GoldenTip } from './golden-chain.ts';
import { nullOutpoint } from './ord-golden.ts';

type Fields = Record<string, unknown>;

/**
 * Turns recorded answers of an ord without a sat index into those of an ord with one. Only `sat`, `charms`,
 * `sat_ranges` and the value of the lost outpoint differ, and these are recorded too.
 */
export function withSats(
  golden: GoldenChain,
  tip: GoldenTip,
  question: string,
): (key: string, value: unknown) => unknown {
  if (question.startsWith('output')) return withRanges(golden, tip);
  const recorded = new Map(
    golden.satAnswers<Fields | Fields[]>(tip, `${question}-sats`).map(({ key, value }) => [key, value]),
  );
  return (key, value) => {
    const sats = recorded.get(key);
    if (!Array.isArray(sats)) return { ...(value as Fields), ...sats };
    const name = question.startsWith('r-children') ? 'children' : 'parents';
    const list = (value as Record<string, Fields[]>)[name] ?? [];
    return { ...(value as Fields), [name]: list.map((fields, place) => ({ ...fields, ...sats[place] })) };
  };
}

function withRanges(golden: GoldenChain, tip: GoldenTip): (key: string, value: unknown) => unknown {
  const ranges = new Map(
    golden.satAnswers<[number, number][]>(tip, 'output-ranges').map(({ key, value }) => [key, value]),
  );
  return (key, value) => {
    const own = ranges.get(key) ?? null;
    const fields = { ...(value as Fields), sat_ranges: own };
    if (key !== nullOutpoint) return fields;
    return { ...fields, value: (own ?? []).reduce((sum, [start, end]) => sum + end - start, 0) };
  };
}
