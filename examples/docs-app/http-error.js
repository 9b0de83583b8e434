// An error of the application itself, with the status of the response.

export class HttpError extends Error {
  /**
   * @param {number} status
   * @param {string} message Shown to the user.
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}
