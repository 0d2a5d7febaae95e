const dayMs = 86_400_000;

/** Maximum number of bars in a chart. More bars would be too narrow to see and tap on a phone. */
const spansMax = 40;

/** Consecutive days that are one bar of a chart. Days are UTC days since 1970. */
export interface DaySpan {
  readonly first: number;
  readonly last: number;
  /** `2023-02-01`, or the first and last day of a longer span. */
  readonly label: string;
}

/** Equal spans from the day `first` to the day `last`, at most 40. The last span may be shorter. */
export function daySpans(first: number, last: number): DaySpan[] {
  const length = Math.ceil((last - first + 1) / spansMax);
  return Array.from({ length: Math.ceil((last - first + 1) / length) }, (_, index) => {
    const start = first + index * length;
    const end = Math.min(start + length - 1, last);
    const label = length === 1 ? dayWords(start) : `${dayWords(start)} to ${dayWords(end)}`;
    return { first: start, last: end, label };
  });
}

const dayWords = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10);

/** The sum over the days of a span. */
export function totalIn<Day extends { readonly day: number }>(
  { first, last }: DaySpan,
  days: readonly Day[],
  amountOf: (day: Day) => number,
): number {
  return days.reduce((sum, day) => (day.day < first || day.day > last ? sum : sum + amountOf(day)), 0);
}
