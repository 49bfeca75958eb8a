/** A rendered mail in a frame that runs nothing: its page has a policy of its own. */
export function MailFrame({ title, url }: { readonly title: string; readonly url: string | undefined }) {
  return (
    <div className="h-[560px] overflow-hidden rounded-panel border border-line">
      {url !== undefined && (
        <iframe
          title={title}
          src={new URL(url).pathname}
          sandbox="allow-popups allow-popups-to-escape-sandbox"
          className="h-full w-full"
        />
      )}
    </div>
  );
}
