/**
 * HTML of a mail, which is not trusted, in a frame whose page has a policy of its own: no script, no request, no form. The sandbox
 * admits this page alone, to write the mail into it. Links have no target, because following one counts as an act of the recipient.
 */
import { useEffect, useRef, useState } from "react";
import address from "./mail-frame.html?url";

const LEAST_PX = 160;
const MOST_PX = 4_000;

export function MailFrame({ html, title }: { readonly html: string; readonly title: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(LEAST_PX);
  const [isLoaded, setLoaded] = useState(false);
  useEffect(() => {
    const inner = frame.current?.contentDocument;
    const view = inner?.defaultView;
    if (!inner || !view || !isLoaded) return;
    // The parser of the frame, because a parser applies the policy of its own page.
    const mail = new (view as Window & typeof globalThis).DOMParser().parseFromString(
      loadsNothing(html),
      "text/html",
    );
    makeHarmless(mail);
    inner.documentElement.lang = mail.documentElement.lang || "en";
    const styles = [...mail.head.querySelectorAll("style")];
    inner.body.replaceWith(inner.adoptNode(mail.body));
    inner.head.append(...styles.map((style) => inner.adoptNode(style)));
    setHeight(Math.min(MOST_PX, Math.max(LEAST_PX, inner.documentElement.scrollHeight)));
  }, [html, isLoaded]);
  return (
    <iframe
      ref={frame}
      title={title}
      src={address}
      sandbox="allow-same-origin"
      referrerPolicy="no-referrer"
      onLoad={() => setLoaded(true)}
      style={{ height }}
      className="w-full rounded border border-line bg-[#fff]"
    />
  );
}

/** Styles without addresses of other servers, which the policy would refuse one by one. */
function loadsNothing(html: string): string {
  return html.replace(/url\(\s*(?!["']?data:)[^)]*\)/gi, "none").replace(/@import[^;]*;/gi, "");
}

/** Takes away what the policy of the frame cannot forbid, targets of links and commands of the head, and what it would refuse. */
function makeHarmless(mail: Document): void {
  for (const one of mail.querySelectorAll("script, meta, base, link, iframe, object, embed, audio, video")) {
    one.remove();
  }
  for (const link of mail.querySelectorAll("[href]")) {
    link.setAttribute("title", link.getAttribute("href") ?? "");
    link.removeAttribute("href");
  }
  for (const picture of mail.querySelectorAll("[src], [srcset], [background]")) {
    if (picture.getAttribute("src")?.startsWith("data:") !== true) picture.removeAttribute("src");
    picture.removeAttribute("srcset");
    picture.removeAttribute("background");
  }
  for (const one of mail.querySelectorAll("*")) {
    for (const { name } of Array.from(one.attributes)) if (name.startsWith("on")) one.removeAttribute(name);
  }
}
