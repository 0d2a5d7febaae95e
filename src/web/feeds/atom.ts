/** An entry of a feed. Texts are plain: readers show no markup of them. */
export interface FeedEntry {
  /** The same for ever, and of this entry alone. */
  readonly id: string;
  readonly title: string;
  readonly href: string;
  /** Unix seconds. */
  readonly updated: number;
  readonly summary: string;
}

export interface Feed {
  readonly id: string;
  readonly title: string;
  /** The addresses of the feed itself, and of the page that shows the same. */
  readonly self: string;
  readonly page: string;
  readonly author: string;
  /** Newest first. */
  readonly entries: readonly FeedEntry[];
}

/** An Atom feed (RFC 4287). It is as new as its newest entry; an empty one is as old as Unix time. */
export function atomFeed({ id, title, self, page, author, entries }: Feed): string {
  const updated = entries.reduce((newest, entry) => Math.max(newest, entry.updated), 0);
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${xmlText(id)}</id>
<title>${xmlText(title)}</title>
<updated>${timestamp(updated)}</updated>
<author><name>${xmlText(author)}</name></author>
<link rel="self" type="application/atom+xml" href="${xmlText(self)}"/>
<link rel="alternate" type="text/html" href="${xmlText(page)}"/>
${entries.map(entryXml).join('')}</feed>
`;
}

function entryXml({ id, title, href, updated, summary }: FeedEntry): string {
  return `<entry>
<id>${xmlText(id)}</id>
<title>${xmlText(title)}</title>
<updated>${timestamp(updated)}</updated>
<link rel="alternate" type="text/html" href="${xmlText(href)}"/>
<summary>${xmlText(summary)}</summary>
</entry>
`;
}

const timestamp = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Characters that XML 1.0 has no form for, not even an escaped one. */
// oxlint-disable-next-line no-control-regex -- these are the ones
const outsideXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/gu;

/** A text in content or in a quoted attribute of XML. What XML cannot have becomes U+FFFD. */
function xmlText(text: string): string {
  return text
    .toWellFormed()
    .replace(outsideXml, '\ufffd')
    .replace(/[&<>"']/gu, (character) => entities[character] ?? '');
}
