import type { ConsolePart } from '#kernel/contracts/console-sheet.ts';

/** Parameters of a page of the console, each given once. */
export type SheetQuery = Readonly<Partial<Record<string, string>>>;

/** Number of rows on a page. */
const pageRows = 50;
/** Maximum number of pages. Lists of the commands end at 10,000 rows, too. */
const pagesMax = 200;

/** A page of a list. */
export interface ListPage {
  readonly page: number;
  /** Number of rows to read: those of the pages before, of this page, and one more, which shows that there are more. */
  readonly limit: number;
}

/** The page that a query names. Unreadable numbers mean the first page. */
export function listPageOf({ page = '1' }: SheetQuery): ListPage {
  const number = /^[1-9]\d{0,2}$/u.test(page) ? Math.min(Number(page), pagesMax) : 1;
  return { page: number, limit: number * pageRows + 1 };
}

/** The rows of this page. */
export const rowsOn = <Row>({ page }: ListPage, rows: readonly Row[]): readonly Row[] =>
  rows.slice((page - 1) * pageRows, page * pageRows);

/** Links to the neighbours of this page. */
export function pagerOf(
  { page, limit }: ListPage,
  rows: readonly unknown[],
  path: string,
  { page: _page, ...others }: SheetQuery,
): ConsolePart {
  const to = (target: number): string => hrefOf(path, { ...others, page: String(target) });
  const hasMore = rows.length >= limit && page < pagesMax;
  return { kind: 'pager', previous: page > 1 ? to(page - 1) : null, next: hasMore ? to(page + 1) : null };
}

/** A path with parameters; those without a value are left out. */
export function hrefOf(path: string, parameters: SheetQuery): string {
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

/** Choices of a state, with one for all states. */
export const stateChoices = (
  path: string,
  states: readonly string[],
  current: string | undefined,
): ConsolePart => ({
  kind: 'choices',
  label: 'State',
  choices: ['', ...states].map((state) => ({
    words: state === '' ? 'all' : state,
    href: hrefOf(path, { state }),
    isCurrent: state === (current ?? ''),
  })),
});
