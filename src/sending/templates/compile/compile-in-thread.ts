/** Compiles MJML and designs in a thread, so that a large one delays no other request. */
import { createWorkspaceLimiter } from "#platform/concurrency.ts";
import { ApiError, type FieldFault, invalid, overloaded } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import {
  createWorkerThread,
  type WorkerThread,
  type WorkerThreadLimits,
} from "#platform/process/worker-thread.ts";
import type { DesignBrand } from "#sending/designs/design.ts";
import type { CheckedTemplate, TemplateToCheck } from "./check-template.ts";
import type { CompiledSource } from "./compile-source.ts";
import type { ContentSource } from "./content-source.ts";

/** A body to compile, or templates to compile and try, each until one has faults. */
type Task =
  | { readonly source: ContentSource; readonly templates?: undefined }
  | { readonly templates: readonly TemplateToCheck[] };
export type CompileQuestion = Task & { readonly brand: DesignBrand };
export type CompileAnswer = CompiledSource | { readonly checked: readonly CheckedTemplate[] };

/** The longest MJML takes a second or two, and several times that on a busy machine. */
const LIMITS: WorkerThreadLimits = { deadlineMs: 20_000, heapMb: 512 };

/** One compilation of a workspace at a time. */
const BOUNDS = { concurrency: 1, maxWaiting: 20, maxWaitMs: 10_000 };

export class ContentCompiler {
  readonly #thread: WorkerThread<CompileQuestion, CompileAnswer>;
  readonly #brandOf: (workspaceId: WorkspaceId) => Promise<DesignBrand>;
  readonly #takeTurn = createWorkspaceLimiter(
    BOUNDS,
    "Too much content of this workspace is being compiled: send fewer requests at a time",
  );

  /** @param brandOf what designs show of a workspace */
  constructor(brandOf: (workspaceId: WorkspaceId) => Promise<DesignBrand>) {
    this.#brandOf = brandOf;
    this.#thread = createWorkerThread(new URL("compile-thread.ts", import.meta.url), LIMITS);
  }

  /** The HTML of MJML or of a design. @throws ApiError VALIDATION_ERROR, and those of #ask */
  async compile(workspaceId: WorkspaceId, source: ContentSource): Promise<string> {
    const answer = await this.#ask(workspaceId, { source });
    if ("checked" in answer) throw new Error("the thread answered another question");
    if (!answer.ok) throw refusal(answer.faults);
    return answer.html;
  }

  /**
   * Templates with their HTML, in order. @throws ApiError VALIDATION_ERROR with the faults of the first that has any, and
   * those of #ask
   * @param explain the fault as one of the template at this place; by default as it is
   */
  async check(
    workspaceId: WorkspaceId,
    templates: readonly TemplateToCheck[],
    explain = (fault: FieldFault, _place: number): FieldFault => fault,
  ): Promise<Extract<CheckedTemplate, { ok: true }>[]> {
    if (templates.length === 0) return [];
    const answer = await this.#ask(workspaceId, { templates });
    if (!("checked" in answer)) throw new Error("the thread answered another question");
    return answer.checked.map((checked, place) => {
      if (!checked.ok) throw refusal(checked.faults.map((fault) => explain(fault, place)));
      return checked;
    });
  }

  /** @throws ApiError RATE_LIMIT_EXCEEDED, BAD_REQUEST for content that takes too much memory, SERVICE_UNAVAILABLE for one that takes too long */
  #ask(workspaceId: WorkspaceId, task: Task): Promise<CompileAnswer> {
    return this.#takeTurn(workspaceId, async () => {
      const answer = await this.#thread.ask({ ...task, brand: await this.#brandOf(workspaceId) });
      if (answer.ok) return answer.answer;
      if (answer.reason === "too_slow")
        throw overloaded("The content could not be compiled in time: shorten it, or try again");
      throw new ApiError("BAD_REQUEST", "The content takes too much memory to be compiled: shorten it");
    });
  }
}

function refusal([first, ...rest]: readonly FieldFault[]): ApiError {
  return first === undefined ? new ApiError("VALIDATION_ERROR") : invalid(first, ...rest);
}
