/**
 * Ends every text: the grams of its end show needles of one and two code points by their beginnings. NUL is in no folded
 * text (it counts as U+2400), so no needle reaches into it.
 */
const textEnd = '\0\0';

/** Those that JSON writes in six bytes. A text of 4 MB may have nothing else, and is then six times as large on its way. */
// oxlint-disable-next-line no-control-regex -- control characters are what it is about
const controls = /[\u0001-\u0007\u000b\u000e-\u001f]/gu;

/** As many as `controls`, and in no folded text: folding makes small letters of them. */
const capitals = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const capitalOf = new Map(
  Array.from({ length: 0x20 }, (_, code) => String.fromCodePoint(code))
    .filter((control) => control !== '\0' && control.search(controls) === 0)
    .map((control, at) => [control, capitals[at] as string]),
);

const withoutControls = (folded: string): string =>
  folded.replace(controls, (control) => capitalOf.get(control) ?? control);

/** A folded text as it is analysed into grams: code point by code point another one, so needles occur where they did. */
export const gramText = (folded: string): string => withoutControls(folded) + textEnd;

/** A folded needle as it occurs in such texts. */
export const gramNeedle = withoutControls;
