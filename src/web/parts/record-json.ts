import { type HtmlValue, html } from '#web/html.ts';

/** Maximum number of characters of a JSON text that a page shows. `/indexer/inscription` returns the complete text. */
export const jsonShownChars = 20_000;

/** A part of a record as JSON with line breaks. */
export function recordJson(title: string, json: string | null): HtmlValue {
  if (json === null) return null;
  const shown = json.length <= jsonShownChars ? json : `${json.slice(0, jsonShownChars)}…`;
  return html`<section><h2>${title}</h2><pre class="json">${indented(shown)}</pre></section>`;
}

/**
 * JSON text with line breaks. Numbers and strings are unchanged, although parsing would round large integers. If the
 * end of the text cuts a string, this string is one token. Otherwise each quote in the string would be tried as the
 * start of another string.
 */
function indented(json: string): string {
  let depth = 0;
  return json.replace(/"(?:[^"\\]|\\.)*"?|[{}[\],:]/gu, (token, at: number) => {
    const line = (): string => `\n${'  '.repeat(depth)}`;
    switch (token) {
      case '{':
      case '[': {
        // an empty list or object gets no line break
        if (json[at + 1] === '}' || json[at + 1] === ']') return token;
        depth += 1;
        return `${token}${line()}`;
      }
      case '}':
      case ']': {
        if (json[at - 1] === '{' || json[at - 1] === '[') return token;
        depth = Math.max(0, depth - 1);
        return `${line()}${token}`;
      }
      case ',':
        return `,${line()}`;
      case ':':
        return ': ';
      default:
        return token;
    }
  });
}
