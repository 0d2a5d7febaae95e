import { html, Markup } from '#web/html.ts';

export interface FeedLink {
  readonly href: string;
  readonly title: string;
}

/** Facts in a page's head, for sites that show links and for feed readers. */
export interface Sharing {
  /** Empty: unknown. */
  readonly origin: string;
  /** Path of its picture, 1200 × 630. */
  readonly picture: string;
  readonly feed: FeedLink | null;
}

/**
 * The place of these tags in a page that is made before its address is known. A text in the page cannot contain it,
 * because its brackets are escaped.
 */
const place = '<!--sharing-->';
export const sharingPlace = new Markup(place);

/** A page with its tags in place. */
export const withSharing = (page: Markup, sharing: Sharing): Markup =>
  new Markup(page.text.replace(place, () => tags(sharing).text));

function tags({ origin, picture, feed }: Sharing): Markup {
  return html`<meta property="og:image" content="${origin}${picture}">
<meta property="og:image:width" content="1200">
<meta property="og:image:height" content="630">
<meta name="twitter:card" content="summary_large_image">
${feed !== null && html`<link rel="alternate" type="application/atom+xml" href="${feed.href}" title="${feed.title}">`}`;
}
