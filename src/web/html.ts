/** HTML that is safe to send, because the `html` template escapes all values. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type HtmlValue = string | number | null | undefined | false | Markup | readonly HtmlValue[];

/**
 * A template of HTML. Every value is escaped, for text and for quoted attributes. Lists are joined. The values null,
 * undefined and false become an empty text. Never put values into unquoted attributes, scripts or styles.
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Markup {
  let text = strings[0] ?? '';
  for (const [index, value] of values.entries()) text += shown(value) + (strings[index + 1] ?? '');
  return new Markup(text);
}

function shown(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Markup) return value.text;
  if (typeof value === 'object') return value.map(shown).join('');
  return escapeHtml(String(value));
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  // show a visible sign, because HTML cannot contain the null character, and parsers would replace it
  '\0': '\u2400',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"'\0]/gu, (character) => entities[character] ?? '');
}
