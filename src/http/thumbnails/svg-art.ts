import {
  formatInscriptionId,
  type InscriptionId,
  parseInscriptionId,
} from '#kernel/primitives/inscription-id.ts';

/** Maximum number of references to inscriptions in an SVG that is drawn. Generated art has about ten layers. */
export const referencesMax = 24;

/** Needs of an SVG that is drawn without a browser. */
export type SvgNeeds =
  | { readonly kind: 'none' }
  /** The SVG is drawn by its scripts, or has parts in HTML. */
  | { readonly kind: 'scripts' }
  /** The SVG shows other inscriptions. */
  | { readonly kind: 'inscriptions'; readonly ids: readonly InscriptionId[] };

const runsScripts = /<(?:\w+:)?(?:script|foreignObject)[\s/>]/iu;
/** A reference in quotes or parentheses. It is an attribute, or `url(…)` in a style. */
const reference =
  /(["'(])(?:https?:\/\/[^"'()\s/]{1,255})?\/content\/([0-9a-f]{64}i\d{1,10})(?=["'\u0029])/giu;

/** Returns the needs of an SVG. Accepts any text, and takes linear time. */
export function svgNeeds(svg: string): SvgNeeds {
  if (runsScripts.test(svg)) return { kind: 'scripts' };
  const ids = new Map<string, InscriptionId>();
  for (const [, , text = ''] of svg.matchAll(reference)) {
    const id = parseInscriptionId(text);
    if (id !== null) ids.set(formatInscriptionId(id.txid, id.index), id);
  }
  return ids.size === 0 ? { kind: 'none' } : { kind: 'inscriptions', ids: [...ids.values()] };
}

/**
 * The SVG with `data:` URLs in place of its references to inscriptions. `null` if the result would be longer than
 * `charsMax`.
 *
 * @param addressOf returns the URL for an id; if it returns null, the reference is unchanged, and not drawn
 * @param charsMax needed because an SVG may name one image a thousand times
 */
export function withReferences(
  svg: string,
  addressOf: (id: string) => string | null,
  charsMax: number,
): string | null {
  let chars = svg.length;
  const whole = svg.replace(reference, (found: string, open: string, text: string) => {
    const id = parseInscriptionId(text);
    const address = id === null ? null : addressOf(formatInscriptionId(id.txid, id.index));
    if (address === null || chars > charsMax) return found;
    chars += address.length;
    return `${open}${address}`;
  });
  return chars > charsMax ? null : whole;
}
