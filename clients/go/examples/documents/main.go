// An application with documents, each readable by its viewers. Here the subject comes from a header; take it from your
// session. GRANTD_URL and GRANTD_KEY say where grantd is.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/grantd/grantd/clients/go"
	"github.com/grantd/grantd/clients/go/grantdhttp"
)

func main() {
	client, err := grantd.New(grantd.Config{})
	if err != nil {
		log.Fatal(err)
	}
	guard := grantdhttp.Guard{
		Client:  client,
		Subject: func(r *http.Request) string { return r.Header.Get("X-Subject") },
		OnError: func(_ *http.Request, err error) { log.Print(err) },
	}
	mux := http.NewServeMux()
	mux.Handle("GET /documents/{id}", guard.Requires("viewer", func(r *http.Request) string {
		return "document:" + r.PathValue("id")
	})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "This is %s.\n", r.PathValue("id"))
	})))
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, mux))
}
