/**
 * HTML of a mail, which nobody trusts, in a frame whose page has a policy of its own: no script, no request, no form. The sandbox
 * admits this page alone, to write the mail into it. Links have no target, because following one counts as an act of the recipient.
 */
import { useEffect, useRef, useState } from "react";
import address from "./mail-frame.html?url";

const LEAST_PX = 240;
const MOST_PX = 4_000;

export function MailFrame({ html, title }: { readonly html: string; readonly title: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(LEAST_PX);
  const [isLoaded, setLoaded] = useState(false);
  useEffect(() => {
    const inner = frame.current?.contentDocument;
    if (!inner || !isLoaded) return;
    const mail = harmless(html);
    inner.documentElement.lang = mail.documentElement.lang || "en";
    inner.body.replaceWith(inner.adoptNode(mail.body));
    inner.head.append(...[...mail.head.querySelectorAll("style")].map((style) => inner.adoptNode(style)));
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

/** The mail without what the policy of the frame cannot forbid: targets of links, and commands of its head. */
function harmless(html: string): Document {
  const mail = new DOMParser().parseFromString(html, "text/html");
  for (const one of mail.querySelectorAll("script, meta, base, link, iframe, object, embed")) one.remove();
  for (const link of mail.querySelectorAll("[href]")) {
    link.setAttribute("title", link.getAttribute("href") ?? "");
    link.removeAttribute("href");
  }
  return mail;
}
