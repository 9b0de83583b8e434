// What the application itself refuses, with the status of the response.

export class HttpError extends Error {
  /**
   * @param {number} status
   * @param {string} message For the person in front of the page.
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}
