// An application with documents, each readable by its viewers. Here the subject comes from a header; take it from your
// session. GRANTD_URL and GRANTD_KEY say where grantd is.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/grantd/grantd/clients/go"
	"github.com/grantd/grantd/clients/go/grantdhttp"
)

const documentsMax = 100

func subjectOf(r *http.Request) string { return r.Header.Get("X-Subject") }

func documentOf(r *http.Request) string { return "document:" + r.PathValue("id") }

func readDocument(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "This is %s.\n", r.PathValue("id"))
}

// listDocuments responds with what its reader may read, and nothing else.
func listDocuments(client *grantd.Client) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		subject := subjectOf(r)
		if subject == "" {
			http.Error(w, http.StatusText(http.StatusUnauthorized), http.StatusUnauthorized)
			return
		}
		found := []string{}
		query := grantd.ObjectsQuery{Subject: subject, Relation: "viewer", Namespace: "document"}
		for document, err := range client.ListObjects(r.Context(), query) {
			if err != nil {
				// Neither a yes nor a no: the request is not served, and may be repeated.
				log.Print(err)
				w.Header().Set("Retry-After", "1")
				http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
				return
			}
			found = append(found, strings.TrimPrefix(document, "document:"))
			if len(found) == documentsMax {
				break
			}
		}
		_ = json.NewEncoder(w).Encode(found)
	}
}

// routes is the application, for main and its tests.
func routes(client *grantd.Client) http.Handler {
	guard := grantdhttp.Guard{
		Client:  client,
		Subject: subjectOf,
		OnError: func(_ *http.Request, err error) { log.Print(err) },
	}
	mux := http.NewServeMux()
	mux.Handle("GET /documents/{id}", guard.Requires("viewer", documentOf)(http.HandlerFunc(readDocument)))
	mux.HandleFunc("GET /documents", listDocuments(client))
	return mux
}

func main() {
	client, err := grantd.New(grantd.Config{Timeout: 2 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, routes(client)))
}
