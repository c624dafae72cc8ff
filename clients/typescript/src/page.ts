// Pages of lists.

import type { Pagination } from "./generated/types.js";

/** The whole answer of a list. */
export interface ListBody<Item> {
  status: string;
  code: number;
  message: string;
  data: Item[];
  pagination: Pagination;
}

/** One page of a list. */
export interface Page<Item, Body = ListBody<Item>> {
  items: Item[];
  /** The number of this page, and how many there are. */
  pagination: Pagination;
  /** The whole answer. */
  body: Body;
}

/**
 * A list that has been asked for. `await` gives one page; `all()` and `pages()` give everything
 * from there on. Nothing is sent before one of them is used.
 */
export class Listing<Item, Body = ListBody<Item>> implements Promise<Page<Item, Body>> {
  readonly [Symbol.toStringTag] = "Listing";
  #first: Promise<Page<Item, Body>> | undefined;

  /** `fetchPage` without a number gives the page that the caller has named. */
  constructor(private readonly fetchPage: (page?: number) => Promise<Page<Item, Body>>) {}

  /** All pages, each requested when it is reached. */
  async *pages(): AsyncGenerator<Page<Item, Body>> {
    let page = await this.then();
    while (true) {
      yield page;
      const { page: number, total_pages, total_is_minimum } = page.pagination;
      // Above 10,000 items the service does not count; an empty page is the end.
      if (page.items.length === 0 || (number >= total_pages && !total_is_minimum)) return;
      page = await this.fetchPage(number + 1);
    }
  }

  /** The items of all pages. */
  async *all(): AsyncGenerator<Item> {
    for await (const page of this.pages()) yield* page.items;
  }

  then<Result = Page<Item, Body>, Caught = never>(
    onfulfilled?: ((page: Page<Item, Body>) => Result | PromiseLike<Result>) | null,
    onrejected?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Result | Caught> {
    this.#first ??= this.fetchPage();
    return this.#first.then(onfulfilled, onrejected);
  }

  catch<Caught = never>(
    onrejected?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Page<Item, Body> | Caught> {
    return this.then(undefined, onrejected);
  }

  finally(onfinally?: (() => void) | null): Promise<Page<Item, Body>> {
    return this.then().finally(onfinally);
  }
}
