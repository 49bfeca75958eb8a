/**
 * A mail in a frame, by the address of a preview: the frame has its own policy and runs no script. A new mail loads behind the shown
 * one and takes its place when it is there, so that nothing flickers. Pictures of other hosts are loaded when the person asks for them.
 */
import type { Schema } from "@posthaste/client";
import { type SyntheticEvent, useState } from "react";
import { Button } from "./button.tsx";
import { useFrameFocus } from "./use-frame-focus.ts";
import { useWidth } from "./use-width.ts";

interface Props {
  /** What renderContent answers. */
  readonly mail: Pick<Schema<"RenderedMail">, "html" | "preview">;
  readonly isDark?: boolean;
  readonly title: string;
  /** CSS pixels that the mail has; without it, the width of the place. A mail wider than the place is shown smaller. */
  readonly width?: number | undefined;
  /** The id of the element with which the view begins. */
  readonly anchor?: string | undefined;
}

export function MailPreview({ mail, isDark = false, title, width, anchor }: Props) {
  const [shown, setShown] = useState<string>();
  const [place, room] = useWidth();
  const [focusPlace, isFocused] = useFrameFocus();
  const [withRemote, setWithRemote] = useState(false);
  const address = addressOf(isDark ? mail.preview.dark_url : mail.preview.url, withRemote, anchor);
  const scale = width === undefined || room === 0 ? 1 : Math.min(1, room / width);
  const size = { width: width === undefined ? "100%" : width, height: `${100 / scale}%` };
  const frames = shown === undefined || shown === address ? [address] : [shown, address];
  const isBehind = (one: string) => one !== shown && shown !== undefined;
  const show = (one: string, { currentTarget: frame }: SyntheticEvent<HTMLIFrameElement>) => {
    const former = document.activeElement;
    setShown(one);
    // The former frame leaves the page, and the focus would leave with it.
    if (former instanceof HTMLIFrameElement && former.title === frame.title) frame.focus();
  };
  return (
    <div ref={place} className="relative flex h-full min-h-0 justify-center overflow-hidden">
      {!withRemote && remote.test(mail.html) && (
        <div className="absolute inset-x-0 bottom-0 z-10 flex flex-wrap items-center justify-center gap-x-3 border-t border-line bg-surface px-3 py-1.5 text-small">
          Pictures of other hosts are not loaded.
          <Button onPress={() => setWithRemote(true)}>Load them</Button>
        </div>
      )}
      <div
        ref={focusPlace}
        className="relative h-full shrink-0"
        style={{ width: width === undefined ? "100%" : width * scale }}
      >
        <div className="relative origin-top-left" style={{ ...size, transform: `scale(${scale})` }}>
          {frames.map((one) => (
            <iframe
              key={one}
              src={one}
              title={title}
              aria-hidden={isBehind(one)}
              {...(isBehind(one) && { tabIndex: -1 })}
              sandbox="allow-popups allow-popups-to-escape-sandbox"
              onLoad={(event) => show(one, event)}
              // Mail has a white page unless it says otherwise, whatever the theme of the console.
              style={{ colorScheme: "light", backgroundColor: "#fff" }}
              className={`absolute inset-0 h-full w-full border-0 ${isBehind(one) ? "opacity-0" : ""}`}
            />
          ))}
        </div>
        {/* Some mail hides the mark of what has the focus in it. */}
        {isFocused && (
          <div data-focus-visible className="pointer-events-none absolute inset-0 z-20 -outline-offset-2" />
        )}
      </div>
      {/* A browser may keep the focus in a frame that ends the page. */}
      <a
        href="#page"
        className="absolute right-2 -bottom-20 z-20 rounded-control bg-accent px-3 py-1 text-on-accent focus:bottom-2"
      >
        Back to the beginning of the page
      </a>
    </div>
  );
}

/** A picture, style or font of another host. */
const remote =
  /<(?:img|source|video|td|table|body)\b[^<>]*\s(?:src|srcset|background|poster)\s*=\s*["']?\s*https?:|<link\b[^<>]*https?:|url\(\s*["']?https?:/i;

/** Below the console's own origin, as its policy wants it, under whatever name the service is known. */
function addressOf(url: string, withRemote: boolean, anchor: string | undefined): string {
  const { pathname, searchParams } = new URL(url, location.origin);
  if (!withRemote) searchParams.set("remote", "blocked");
  const search = searchParams.size === 0 ? "" : `?${searchParams}`;
  return `${pathname}${search}${anchor ? `#${encodeURIComponent(anchor)}` : ""}`;
}
