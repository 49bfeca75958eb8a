/** A rendered mail in a frame that runs nothing: its page has a policy of its own. */
export function MailFrame({ title, url }: { readonly title: string; readonly url: string | undefined }) {
  return (
    <div className="h-[560px] overflow-hidden rounded-panel border border-line">
      {url !== undefined && (
        <iframe
          title={title}
          // Below the console's own origin, as its policy wants it, under whatever name the service is known.
          src={new URL(url).pathname}
          sandbox="allow-popups allow-popups-to-escape-sandbox"
          // Mail has a white page unless it says otherwise, whatever the theme of the console.
          style={{ colorScheme: "light", backgroundColor: "#fff" }}
          className="h-full w-full"
        />
      )}
    </div>
  );
}
