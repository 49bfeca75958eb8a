/**
 * A mail in a frame, by the address of a preview: the frame has its own policy and runs no script. A new mail loads behind the shown
 * one and takes its place when it is there, so that nothing flickers.
 */
import { useState } from "react";
import { useWidth } from "./use-width.ts";

interface Props {
  /** `preview.url` or `preview.dark_url` of renderContent. */
  readonly url: string;
  readonly title: string;
  /** CSS pixels that the mail has; without it, the width of the place. A mail wider than the place is shown smaller. */
  readonly width?: number | undefined;
  /** The id of the element with which the view begins. */
  readonly anchor?: string | undefined;
}

export function MailPreview({ url, title, width, anchor }: Props) {
  const [shown, setShown] = useState<string>();
  const [place, room] = useWidth();
  const address = addressOf(url, anchor);
  const scale = width === undefined || room === 0 ? 1 : Math.min(1, room / width);
  const size = { width: width === undefined ? "100%" : width, height: `${100 / scale}%` };
  const frames = shown === undefined || shown === address ? [address] : [shown, address];
  return (
    <div ref={place} className="relative flex h-full min-h-0 justify-center overflow-hidden">
      <div className="h-full shrink-0" style={{ width: width === undefined ? "100%" : width * scale }}>
        <div className="relative origin-top-left" style={{ ...size, transform: `scale(${scale})` }}>
          {frames.map((one) => (
            <iframe
              key={one}
              src={one}
              title={title}
              aria-hidden={one !== shown && shown !== undefined}
              sandbox="allow-popups allow-popups-to-escape-sandbox"
              onLoad={() => setShown(one)}
              // Mail has a white page unless it says otherwise, whatever the theme of the console.
              style={{ colorScheme: "light", backgroundColor: "#fff" }}
              className={`absolute inset-0 h-full w-full border-0 ${one === shown || shown === undefined ? "" : "opacity-0"}`}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

/** Below the console's own origin, as its policy wants it, under whatever name the service is known. */
function addressOf(url: string, anchor: string | undefined): string {
  const { pathname, search } = new URL(url, location.origin);
  return `${pathname}${search}${anchor ? `#${encodeURIComponent(anchor)}` : ""}`;
}
