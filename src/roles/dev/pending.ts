// Questions to another thread that wait for their answers, by id.

export class PendingAnswers<Answer> {
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #lastId = 0;

  /** `send`: sends the question under the id. */
  ask(send: (id: number) => void): Promise<Answer> {
    return new Promise((resolve) => {
      this.#lastId += 1;
      this.#waiting.set(this.#lastId, resolve);
      send(this.#lastId);
    });
  }

  answer(id: number, answer: Answer): void {
    this.#waiting.get(id)?.(answer);
    this.#waiting.delete(id);
  }
}
