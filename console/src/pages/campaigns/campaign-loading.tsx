/** A campaign that is still to come, or cannot be loaded; with the heading that every page has. */
import { Failure } from "../../parts/failure.tsx";

export function WaitingCampaign() {
  return (
    <div aria-busy className="h-full px-6 py-4">
      <h1 className="sr-only">Campaign</h1>
      <div aria-hidden className="h-7 w-64 max-w-full animate-appear rounded bg-sunken" />
      <div aria-hidden className="mt-8 h-10 animate-appear rounded bg-sunken" />
      <div aria-hidden className="mt-4 h-64 animate-appear rounded bg-sunken" />
    </div>
  );
}

export function FailedCampaign(props: Parameters<typeof Failure>[0]) {
  return (
    <div className="px-6 py-4">
      <h1 className="mb-4 text-title font-semibold">Campaign</h1>
      <Failure {...props} />
    </div>
  );
}
