/** An entry of a feed. Its texts are plain text, so feed readers do not interpret markup in them. */
export interface FeedEntry {
  /** The unique id of this entry. It never changes. */
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
  /** URLs of the feed itself, and of the page with the same content. */
  readonly self: string;
  readonly page: string;
  readonly author: string;
  /** Newest first. */
  readonly entries: readonly FeedEntry[];
}

/** An Atom feed (RFC 4287). The feed's time is the time of its newest entry. An empty feed has Unix time 0. */
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

/** Characters that XML 1.0 cannot contain, not even escaped. */
// oxlint-disable-next-line no-control-regex -- these are the ones
const outsideXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/gu;

/** A text, escaped for XML content or a quoted XML attribute. Characters that XML cannot contain become U+FFFD. */
function xmlText(text: string): string {
  return text
    .toWellFormed()
    .replace(outsideXml, '\ufffd')
    .replace(/[&<>"']/gu, (character) => entities[character] ?? '');
}
